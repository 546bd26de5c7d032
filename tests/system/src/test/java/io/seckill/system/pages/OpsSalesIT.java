package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.shop.Answer;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The course of a sale: from its creation to its archive, its edits and reconciliations. */
class OpsSalesIT extends OpsPageFixture {

  private static final long LARGEST_SKU = (1L << 52) - 1;

  /** The name that order-consumer gives the lock. */
  private static final String LOCK_OF_3007 =
      "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-3007')";

  /** Compensations that Redis has confirmed; followed by a SKU. */
  private static final String RETURNED =
      "SELECT COUNT(*) FROM compensation WHERE done_at IS NOT NULL AND sku_id = ";

  @Test
  void runsASaleFromCreationToItsEnd() {
    page.open(pipeline.tokens().operator());
    browser.press("#new-sku");
    browser.awaitShown("#confirm-yes");
    page.fill("skuId", "3001").fill("name", "A kettle").fill("stock", "100");
    page.fill("price", "25.0").refuse("Price in USD, e.g. 499.00: this must be an amount");
    assertThat(pricesAmong("", "2500", "25.0", "25.000", "-25.00", "1e2", "25,00 EUR", "25.00"))
        .isEqualTo(List.of("25.00"));
    page.fill("price", "25.00").fill("stock", "").refuse("Units: this must be a whole number");
    page.fill("stock", "100").confirm("put SKU 3001: A kettle, 100 units at 25.00");
    browser.awaitShown("#sales-rows tr[data-key='3001']");
    browser.press("#new-sku");
    browser.awaitShown("#confirm-yes");
    page.fill("skuId", "3001").fill("name", "A toaster").fill("stock", "7").fill("price", "9.00");
    page.refuse("SKU_EXISTS: SKU 3001 is A kettle.");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.choose(3001);

    page.act("Preheat", "preheat SKU 3001: PREHEATED");
    eventually().until(() -> page.offers("Open"));
    assertThat(browser.run("return document.activeElement.textContent;")).isEqualTo("Preheat");
    assertThat(page.offers("Pause")).as("action that a preheated sale answers with 409").isFalse();
    page.act("Open", "open SKU 3001: OPEN");
    for (int shopper = 1; shopper <= 5; shopper++) {
      String key = "ops-page-" + shopper;
      assertThat(pipeline.shop().buy(shopper, 3001, 2, key).status()).isEqualTo(202);
    }
    page.awaitSheet("units-out", "Confirmed, not paid", "10");
    page.awaitSheet("units-out", "Difference", "0");
    browser.awaitText("#ledger-verdict", "balances");
    browser.awaitText("#tiles", "Click to row");

    page.ask("Change stock…").fill("delta", "50").fill("reason", "more came");
    page.confirm("stock SKU 3001 by 50: DONE, 140 units");
    page.awaitSheet("units-in", "Sum", "150");
    page.act("Pause", "pause SKU 3001: PAUSED");
    assertThat(pipeline.shop().buy(9, 3001, 1, "while-paused").code()).isEqualTo("PAUSED");
    page.act("Audit…", "audit SKU 3001");
    auditForTomorrow(3001);
    page.act("Resume", "resume SKU 3001: OPEN").act("Close", "close SKU 3001: CLOSED");
    browser.awaitText("#sales-rows tr[data-key='3001']", "CLOSED");
    browser.awaitText("#ledger-verdict", "balances");
    assertThat(browser.offeredBy("#audits-csv").lines().filter(line -> line.contains(",3001,")))
        .singleElement()
        .asString()
        .startsWith(browser.text("#audits-day") + ",3001,");
    browser.run("window.scrollTo(0, 0);");
    browser.screenshot("ops");
  }

  /** The texts that the page takes for a price. */
  private static Object pricesAmong(String... texts) {
    return browser.run(
        """
        const [texts] = arguments;
        return import(document.querySelector('link[href$="/entries.js"]').href).then(({MONEY}) =>
          texts.filter((text) => MONEY.read(text) !== null));
        """,
        List.of(texts));
  }

  @Tag("proof")
  @Test
  void runsAStrongSaleAndShowsWhatMySqlHas() {
    onSale(3009);
    page.open(pipeline.tokens().operator());
    browser.press("#new-sku");
    browser.awaitShown("#confirm-yes");
    page.fill("skuId", "3010").fill("name", "A window seat").fill("price", "99.00");
    page.fill("stock", "20").pick("decides", "MYSQL");
    browser.screenshot("ops-new-sku");
    page.confirm("put SKU 3010: A window seat, 20 units");
    browser.awaitText("#sales-rows tr[data-key='3010']", "MySQL");
    page.choose(3010).act("Preheat", "preheat SKU 3010: PREHEATED");
    eventually().until(() -> page.offers("Open"));
    page.act("Open", "open SKU 3010: OPEN");
    eventually().until(() -> isOnSale(3010));
    String[] orders = new String[4];
    for (int shopper = 1; shopper <= 3; shopper++) {
      Answer answer = pipeline.shop().buy(shopper, 3010, 2, "strong-page-" + shopper);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
      orders[shopper] = answer.text("orderId");
    }
    eventually().until(() -> pipeline.shop().pay(1, orders[1]).status() == 200);
    eventually().until(() -> pipeline.shop().cancel(2, orders[2]).status() == 200);

    page.awaitSheet("units-out", "Stock in MySQL", "16");
    page.awaitSheet("units-out", "Confirmed, not paid", "2");
    page.awaitSheet("units-out", "Paid", "2");
    page.awaitSheet("units-out", "Difference", "0");
    page.awaitSheet("orders-out", "Cancelled", "1");
    assertThat(browser.text("#sheets")).doesNotContain("Redis", "Outbox", "Broker", "Dead letters");
    assertThat(browser.text("#sale-facts")).contains("decided by MySQL, confirmed at once");
    assertThat(browser.text("#actions")).doesNotContain("Reconcile");
    browser.awaitText("#ledger-verdict", "balances");
    page.ask("Change stock…").fill("delta", "-6").fill("reason", "a smaller coach");
    page.confirm("stock SKU 3010 by -6: DONE, 10 units");
    page.awaitSheet("units-out", "Stock in MySQL", "10");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.screenshot("ops-strong");
    page.act("Close", "close SKU 3010: CLOSED");
  }

  @Tag("proof")
  @Test
  void archivesASaleOnceNothingOfItIsPending() {
    onSale(3011);
    String order = pipeline.shop().buy(9, 3011, 1, "archived-by-page").text("orderId");
    eventually().until(() -> isOrder(order, "CONFIRMED"));
    page.open(pipeline.tokens().operator()).choose(3011);
    page.act("Close", "close SKU 3011: CLOSED");
    eventually().until(() -> page.offers("Archive"));
    page.ask("Archive").refuse("1 orders that may still be paid");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");

    eventually().until(() -> pipeline.shop().cancel(9, order).status() == 200);
    eventually().until(() -> pipeline.mysql().number(RETURNED + 3011) == 1);
    page.act("Archive", "archive SKU 3011: REDIS, 0 orders moved");
    browser.awaitText("#tiles", "Archives under way");
    eventually().until(() -> pipeline.admin().archive(3011).text("phase").equals("DONE"));
    page.act("Archive", "archive SKU 3011: DONE, 1 orders moved");

    assertThat(isOrder(order, "CANCELLED")).isTrue();
    browser.awaitText("#ledger-verdict", "balances");
  }

  private static boolean isOrder(String order, String status) {
    return pipeline.shop().order(9, order).text("status").equals(status);
  }

  private static boolean isOnSale(long skuId) {
    return pipeline.shop().page(skuId).json().path("onSale").asBoolean();
  }

  /** The page lists 200 sales, closed ones last. */
  @Tag("proof")
  @Test
  void showsAndEditsTheChosenSaleWhenItIsNotListedAnyMore() {
    onSale(3031);
    page.open(pipeline.tokens().operator()).choose(3031);
    pipeline
        .mysql()
        .execute(
            "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                + " limit_per_user, opens_at, closes_at, state) WITH RECURSIVE numbers AS (SELECT 1"
                + " AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 200) SELECT 310000 + n,"
                + " 'one of many', 100, 1, 1, 'UNLIMITED', 0, opens_at, closes_at, 'NEW'"
                + " FROM products, numbers WHERE sku_id = 3031");
    try {
      page.act("Close", "close SKU 3031: CLOSED");

      browser.awaitText("#sale-facts", "CLOSED");
      browser.awaitText("#ledger-verdict", "balances");
      eventually().until(() -> !page.offers("Pause"));
      for (String name : List.of("A lamp", "A shade")) {
        page.ask("Edit…").fill("name", name).confirm("put SKU 3031: " + name);
        browser.awaitText("#sale-title", name);
      }
    } finally {
      pipeline.mysql().execute("DELETE FROM products WHERE sku_id BETWEEN 310001 AND 310200");
    }
  }

  @Tag("proof")
  @Test
  void editsTheProductAsItIsNow() {
    put(LARGEST_SKU);
    page.open(pipeline.tokens().operator()).choose(LARGEST_SKU);
    page.ask("Edit…").fill("price", "599.00").confirm("put SKU " + LARGEST_SKU);
    eventually().until(() -> "599.00".equals(priceInDialog()));

    page.fill("name", "A lamp").confirm("put SKU " + LARGEST_SKU + ": A lamp");

    assertThat(priceOf(LARGEST_SKU)).isEqualTo(59_900);
  }

  /** Opens the dialog and leaves it. */
  private static String priceInDialog() {
    page.ask("Edit…");
    Object price = browser.run("return document.querySelector('[name=price]').value;");
    if ("599.00".equals(price)) {
      return "599.00";
    }
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    return String.valueOf(price);
  }

  private static long priceOf(long skuId) {
    return pipeline.mysql().number("SELECT price_cents FROM products WHERE sku_id = " + skuId);
  }

  @Tag("proof")
  @Test
  void refusesAnEditOfWhatSomebodyElseHasChangedMeanwhile() {
    put(3016);
    page.open(pipeline.tokens().operator()).choose(3016);
    page.ask("Edit…").fill("name", "A lamp");
    eventually()
        .until(() -> pipeline.admin().putSku(3016, PurchasePolicy.LIMITED, 5, 70).status() == 200);
    page.refuse("EDIT_CONFLICT: It was changed after this edit had begun.");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");

    assertThat(
            pipeline
                .mysql()
                .number("SELECT stock FROM products WHERE sku_id = 3016 AND name = 'SKU 3016'"))
        .isEqualTo(70);
  }

  @Tag("proof")
  @Test
  void looksForWhatRedisHasWrongAndRepairsIt() {
    onSale(3005);
    page.open(pipeline.tokens().operator()).choose(3005);
    page.act("Reconcile…", "reconcile SKU 3005: look: CLEAN");

    pipeline.redis().incrBy(RedisKeys.stock(3005), 2); // units that do not exist
    page.act("Reconcile…", "reconcile SKU 3005: look: FOUND, 1 × STOCK_SET");
    browser.awaitText("#audit li.bad", "look: FOUND");
    page.ask("Reconcile…").pick("how", "repair");
    page.confirm("reconcile SKU 3005: repair: REPAIRED, 1 × STOCK_SET");
    assertThat(browser.all("#audit li.bad")).hasSize(1);

    assertThat(pipeline.redis().get(RedisKeys.stock(3005))).isEqualTo("100");
    browser.awaitText("#ledger-verdict", "balances");
  }

  /** MySQL was restored from a backup that is older than the preheat. */
  @Test
  void stopsASaleThatIsNewInMySqlAndRunsInRedis() {
    onSale(3018);
    pipeline.mysql().execute("UPDATE products SET state = 'NEW', epoch = 0 WHERE sku_id = 3018");
    page.open(pipeline.tokens().operator()).choose(3018);
    eventually().until(() -> page.offers("Preheat"));
    page.ask("Preheat").refuse("SALE_RUNNING: MySQL has lost the last preheat of this sale");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");

    page.act("Reconcile…", "reconcile SKU 3018: look: FOUND, 1 × STATE_SET");
    page.ask("Reconcile…").pick("how", "repair");
    page.confirm("reconcile SKU 3018: repair: FOUND, 1 × STATE_SET");

    assertThat(pipeline.redis().hget(RedisKeys.sku(3018), "state")).isEqualTo("CLOSED");
    eventually().until(() -> pipeline.admin().preheat(3018).status() == 200);
    assertThat(pipeline.redis().hget(RedisKeys.sku(3018), "state")).isEqualTo("PREHEATED");
  }

  @Tag("proof")
  @Test
  void showsTheNewestReportWhileSomebodyElseReconciles() throws SQLException {
    onSale(3007);
    page.open(pipeline.tokens().operator()).choose(3007);
    page.act("Reconcile…", "reconcile SKU 3007: look: CLEAN");
    try (var mysql = pipeline.mysql().connect();
        var lock = mysql.createStatement()) {
      lock.execute("SELECT GET_LOCK(" + LOCK_OF_3007 + ", 10)");
      page.ask("Reconcile…");
      browser.press("#confirm-yes");
      browser.awaitText("#confirm-problem", "RECONCILIATION_RUNNING");
    }
    assertThat(browser.text("#confirm-problem"))
        .contains("The newest report, by ")
        .contains("look: CLEAN");
    assertThat(browser.text("#audit li.bad")).contains("RECONCILIATION_RUNNING", "look: CLEAN");
  }

  @Test
  void showsTheNewestReportOfEachShardWhenAReconciliationIsNotAnswered() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.run(
        """
        const report = (shard, outcome, detail = '') =>
          ({shard, outcome, detail, startedBy: 'alice', endedAt: '2026-11-29T10:20:30Z', dryRun: false, counts: {}});
        const reconciliations =
          [report(3, 'CLEAN'), report(1, 'LOST'), report(0, 'UNPROVEN', 'Wait.'), report(1, 'CLEAN'), report(3, 'LOST')];
        window.fetch = async (url, {method}) => {
          if (method === 'POST') throw new TypeError('cut');
          return new Response(JSON.stringify({reconciliations}));
        };
        return import(document.querySelector('link[href$="/actions.js"]').href).then(({actionButtons}) => {
          const product = {skuId: 7, name: 'A thing', state: 'OPEN', decides: 'REDIS', shards: 4};
          const buttons = actionButtons(product, () => product, {token: () => 'a token', changed: () => {}});
          buttons.find((button) => button.textContent === 'Reconcile…').click();
        });
        """);
    browser.press("#confirm-yes");

    String newest =
        "The newest report of shard %d, by alice at 2026-11-29 10:20:30 UTC: repair: %s";
    browser.awaitText("#confirm-problem", newest.formatted(0, "UNPROVEN. Wait."));
    assertThat(browser.text("#confirm-problem"))
        .endsWith(
            String.join(
                " · ",
                newest.formatted(0, "UNPROVEN. Wait."),
                newest.formatted(1, "LOST"),
                newest.formatted(3, "CLEAN")));
  }
}
