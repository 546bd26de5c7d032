package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Eventually;
import io.seckill.testing.TestServers;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The operations page, used as by an operator: Chromium with the three real services. */
@ExtendWith({TestServers.class, SharedPipeline.class})
class OperationsPageIT {

  private static final int MOST_VIEWERS = 50;

  /** The page shows a SKU once, without its shards. */
  private static final String SKUS = " WHERE sku_id < " + Shards.FIRST_ID;

  private static final long LARGEST_SKU = (1L << 52) - 1;

  /** The name that order-consumer gives the lock. */
  private static final String LOCK_OF_3007 =
      "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-3007')";

  /** Compensations that Redis has confirmed; followed by a SKU. */
  private static final String RETURNED =
      "SELECT COUNT(*) FROM compensation WHERE done_at IS NOT NULL AND sku_id = ";

  /** Columns of an audit. */
  private static final String COUNTS =
      "units, stock, confirmed_orders, confirmed_units, paid_orders, paid_units,"
          + " cancelled_orders, cancelled_units, expired_orders, expired_units, rejected_orders,"
          + " rejected_units, charged_cents, refunded_cents, refunds_due, repairs, differences,"
          + " detail, made_at";

  private static Pipeline pipeline;
  private static Browser browser;
  private static OpsPage page;

  @BeforeAll
  static void start(Pipeline shared) {
    pipeline = shared;
    browser = Browser.desktop();
    page = new OpsPage(browser, "http://127.0.0.1:" + pipeline.adminPort());
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.open("about:blank");
    }
  }

  @AfterEach
  void noScriptFailedAndNoPolicyWasViolated() {
    browser.forgetEverything();
    assertThat(browser.complaints()).isEmpty();
  }

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
  void adjustsAWalletAndFreezesIt() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Adjust…");
    page.fill("id", "3017").fill("amount", "--5.00").refuse("this must be an amount");
    page.fill("amount", "5.00").fill("reason", "a mistake").confirm("adjust: balance 5.00");
    page.askAboutWallets("Adjust…").fill("id", "3017");
    page.fill("amount", "-5.01").refuse("INSUFFICIENT_FUNDS");
    page.fill("amount", "-0,50").confirm("adjust: balance 4.50");

    page.askAboutWallets("Freeze…").fill("id", "3017");
    page.confirm("freeze wallet: user 3017 is FROZEN");
    assertThat(walletState()).isEqualTo("FROZEN");
    page.askAboutWallets("Release…").fill("id", "3017");
    page.confirm("release wallet: user 3017 is ACTIVE");
    assertThat(walletState()).isEqualTo("ACTIVE");
  }

  @Tag("proof")
  @Test
  void movesMoneyOnceWhenAnUnansweredRechargeIsRepeatedInAnotherDialog() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    page.fill("id", "3050").fill("amount", "5.00").fill("reason", "paid in");
    browser.loseAnswers("/recharges");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    browser.awaitText("#audit li.bad", "recharge: no answer: what was done is not known");
    assertThat(browser.text("#audit li.bad")).contains("the same action again counts once");
    browser.heal();

    page.askAboutWallets("Recharge…").fill("id", "3050").fill("amount", "5.00");
    page.confirm("recharge: balance 5.00; it counts once, together with the earlier request");
    assertThat(recharges()).isOne();

    page.askAboutWallets("Recharge…").fill("id", "3050").fill("amount", "5.00");
    page.confirm("recharge: balance 10.00");
    assertThat(recharges()).isEqualTo(2);
  }

  private static long recharges() {
    return pipeline.mysql().number("SELECT COUNT(*) FROM wallet_entry WHERE user_id = 3050");
  }

  /** The first request is carried out, its answer is lost, and the second finds the token ended. */
  @Tag("proof")
  @Test
  void changesStockOnceWhenAnUnansweredChangeIsRepeatedAfterASignIn() {
    onSale(3051);
    page.open(pipeline.tokens().operator()).choose(3051).ask("Change stock…");
    browser.run(
        """
        const send = window.fetch;
        let sent = 0;
        window.fetch = async (url, options) => {
          if (!String(url).endsWith('/3051/stock')) return send(url, options);
          if (sent++ > 0) return new Response('{"code": "UNAUTHORIZED"}', {status: 401});
          await send(url, options);
          throw new TypeError('lost');
        };
        """);
    page.fill("delta", "7").fill("reason", "found");
    browser.press("#confirm-yes");
    browser.awaitShown("#token");

    page.open(pipeline.tokens().operator()).choose(3051).ask("Change stock…");
    page.fill("delta", "7").fill("reason", "found again").confirm("stock SKU 3051 by 7: DONE, 107");

    assertThat(browser.text("#audit li")).contains("it counts once");
    assertThat(stockChanges()).isOne();
  }

  private static long stockChanges() {
    return pipeline.mysql().number("SELECT COUNT(*) FROM stock_change WHERE sku_id = 3051");
  }

  /** A refusal moves nothing: the same move after it is a new one. */
  @Tag("proof")
  @Test
  void takesNoMoveAfterARefusalForARepeat() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Adjust…");
    page.fill("id", "3052").fill("amount", "-5.00").refuse("INSUFFICIENT_FUNDS");
    assertThat(browser.text("#confirm-problem")).doesNotContain("counts once");
    page.fill("amount", "5.00").confirm("adjust: balance 5.00");
    page.askAboutWallets("Adjust…").fill("id", "3052").fill("amount", "-5.00");
    page.confirm("adjust: balance 0.00");

    assertThat(browser.text("#audit li")).doesNotContain("counts once");
  }

  @Tag("proof")
  @Test
  void takesThePageOfAProxyForNoAnswer() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    browser.run(
        """
        const send = window.fetch;
        let sent = 0;
        window.fetch = async (url, options) =>
          String(url).endsWith('/recharges') && sent++ === 0 ? new Response('<p>Sign in') : send(url, options);
        """);

    page.fill("id", "3053").fill("amount", "5.00").confirm("recharge: balance 5.00");
  }

  private static String walletState() {
    String sql = "SELECT state FROM wallet WHERE user_id = 3017";
    return pipeline.mysql().rows(sql, row -> row.getString(1)).get(0);
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

  /** A repeat of a preheat would begin it anew. */
  @Tag("proof")
  @Test
  void sendsALongCallOnce() throws SQLException {
    put(3012);
    page.open(pipeline.tokens().operator()).choose(3012);

    askInVain("Preheat", 3012);

    assertThat(requests("/3012/preheat")).isEqualTo(1);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.act("Preheat", "preheat SKU 3012: PREHEATED, epoch 1");
  }

  /** Repeated by itself it could undo a pause that came meanwhile. */
  @Tag("proof")
  @Test
  void sendsAResumeOnce() throws SQLException {
    onSale(3030);
    page.open(pipeline.tokens().operator()).choose(3030).act("Pause", "pause SKU 3030: PAUSED");

    askInVain("Resume", 3030);

    assertThat(requests("/3030/resume")).isEqualTo(1);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
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

  /** The read takes seconds while order-consumer hangs. */
  @Test
  void showsTheChosenSaleBeforeItsLedgerIsRead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const asked = [];
            window.fetch = (url) => new Promise((resolve) =>
              asked.push({url, answer: (json, status = 200) => resolve(new Response(JSON.stringify(json), {status}))}));
            const sku = (skuId) => ({skuId, name: 'A thing', state: 'OPEN', decides: 'MYSQL', opensAt: '', closesAt: ''});
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            let snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku(7), sku(8)], ledgers: [],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const text = (selector) => document.querySelector(selector).textContent;
            const choose = (skuId) => document.querySelector(`#sales-rows tr[data-key='${skuId}'] button`).click();
            return import(document.querySelector('link[href$="/board.js"]').href).then(async ({renderBoard}) => {
              const context = {token: () => 'a token', again: () => renderBoard(snapshot, null, context)};
              const shown = [];
              const note = () => shown.push(`${text('#sale-title')}: ${text('#ledger-verdict')}`);
              const noteOnce = async (part) => {
                while (!text('#ledger-verdict').includes(part)) await new Promise((resolve) => setTimeout(resolve));
                note();
              };
              context.again();
              note();
              choose(8);
              note();
              asked[1].answer({skuId: 8, decides: 'MYSQL', balanced: true, units: {}, orders: {}});
              await noteOnce('balances');
              context.again();
              note();
              asked[2].answer({code: 'CONSUMER_UNAVAILABLE'}, 503);
              await noteOnce('no ledger');
              snapshot = {...snapshot, skus: null, services: {...services, mysql: 'DOWN', consumer: 'DOWN'}};
              choose(7);
              note();
              return [...shown, ...asked.map(({url}) => url)].join('\\n');
            });
            """);

    String none = " · A thing: The ledger: no ledger at the moment";
    String balances =
        "SKU 8 · A thing: The ledger balances: every unit and every order is accounted for";
    assertThat(shown)
        .isEqualTo(
            String.join(
                "\n",
                "SKU 7" + none,
                "SKU 8" + none,
                balances,
                balances,
                "SKU 8" + none,
                "SKU 7" + none,
                "admin/v1/skus/7/ledger",
                "admin/v1/skus/8/ledger",
                "admin/v1/skus/8/ledger"));
  }

  @Test
  void everyButtonOfTheFallbackSendsItsCall() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object calls =
        browser.run(
            """
            const calls = [];
            const timer = window.setTimeout;
            window.setTimeout = (done) => timer(done); // the dialog confirms at once
            window.fetch = async (url, {method}) => {
              calls.push(`${method} ${url}`);
              return new Response('{}');
            };
            const context = {token: () => 'a token', changed: () => {}};
            const dialog = document.querySelector('#confirm');
            const sales = [{skuId: 7, fallback: 'ACTIVE', reservedUnits: 2}];
            const pressAll = async () => {
              for (const button of document.querySelectorAll('#fallback-switch button')) {
                button.click();
                while (dialog.open) {
                  document.querySelector('#confirm-form').requestSubmit();
                  await new Promise((resolve) => setTimeout(resolve));
                }
              }
            };
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(async ({renderFallback}) => {
              for (const [state, salesOfRedis] of [['REDIS', 1], ['ENTERING', 1], ['MYSQL', 0], ['MYSQL', 1], ['RETURNING', 0]]) {
                calls.push(state);
                renderFallback({mode: 'manual', state, changedAt: '', sales, salesOfRedis, salesInFallback: 1, gateways: [], failurePercent: 50, failuresPerSecond: 3}, context);
                await pressAll();
              }
              return calls.join('\\n').replaceAll('admin/v1/', '') + '\\n';
            });
            """);

    String always = "POST skus/7/release-reserve\nPUT fallback/settings\n";
    assertThat(calls)
        .isEqualTo(
            "REDIS\nPOST fallback/enter\n"
                + always
                + "ENTERING\n"
                + always
                + "MYSQL\nPOST fallback/leave\n"
                + always
                + "MYSQL\nPOST fallback/enter\nPOST fallback/leave\n"
                + always
                + "RETURNING\nPOST fallback/enter\n"
                + always);
  }

  @Test
  void confirmsNothingByADoubleClick() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object runs =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const yes = document.querySelector('#confirm-yes');
            let runs = 0;
            const run = async () => {
              runs++;
              return {status: 200, json: {}};
            };
            return import(document.querySelector('link[href$="/actions.js"]').href).then(async ({ask}) => {
              ask(context, {title: 'Do it?', text: '', yes: 'Do it', run, done: () => 'done', what: 'do it'});
              yes.click();
              const early = runs;
              while (yes.ariaDisabled) await new Promise((resolve) => setTimeout(resolve));
              yes.click();
              return `${early},${runs}`;
            });
            """);

    assertThat(runs).isEqualTo("0,1");
  }

  /** A click is lost when a snapshot replaces its button meanwhile. */
  @Test
  void keepsTheButtonsOfTheFallbackWhileItsStateAndAReserveChange() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object seen =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(({renderFallback}) => {
              const render = (state, failurePercent, ...sales) =>
                renderFallback({mode: 'manual', state, changedAt: '', sales, salesOfRedis: 0, salesInFallback: 1, gateways: [], failurePercent, failuresPerSecond: 3}, context);
              const sale = (reservedUnits) => ({skuId: 7, fallback: 'ACTIVE', reservedUnits});
              render('ENTERING', 50, sale(2));
              const [, leave, release, thresholds] = document.querySelectorAll('#fallback-switch button');
              const seen = [leave.ariaDisabled];
              render('MYSQL', 60, sale(1));
              release.click();
              seen.push(leave.ariaDisabled, document.querySelector('#confirm-title').textContent);
              document.querySelector('#confirm').close();
              render('MYSQL', 70, sale(0));
              thresholds.click();
              seen.push(document.querySelector('#confirm-fields input').value);
              document.querySelector('#confirm').close();
              return [...seen, leave.isConnected, release.isConnected].join();
            });
            """);

    assertThat(seen).isEqualTo("true,,Sell the 1 reserved units of SKU 7?,70,true,false");
  }

  @Test
  void showsNoSaleOfAFallbackThatIsNotKnownAndNoStopAfterSigningOut() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const [state, sales, stops, signOut] =
              ['fallback-state', 'fallback-sales', 'stops', 'sign-out'].map((id) => document.getElementById(id));
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(({renderFallback}) => {
              const render = (fallback) => {
                renderFallback(fallback, context);
                return `${state.className} ${sales.children.length}`;
              };
              const sale = {skuId: 7, fallback: 'ACTIVE', reservedUnits: 2};
              const known = {mode: 'manual', state: 'MYSQL', changedAt: '', sales: [sale], salesOfRedis: 0, salesInFallback: 1, gateways: []};
              const shown = [render(known), render(null)];
              stops.hidden = false;
              signOut.click();
              return [...shown, stops.hidden].join();
            });
            """);

    assertThat(shown).isEqualTo("verdict warn 1, 0,true");
  }

  /** A row that is moved loses the focus, and a click under way. */
  @Test
  void movesNoMoreRowsThanItMust() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object moved =
        browser.run(
            """
            const changes = ['ABCD BCDA', 'ABCD BCAD', 'ABCD DABC', 'ABCDE CDEAB', 'ABCDE BDACE', 'ABC CXA', 'ABC ABC', 'A XY'];
            return import(document.querySelector('link[href$="/dom.js"]').href).then(({make, updateChildren}) => {
              const moved = changes.map((change) => {
                const [from, to] = change.split(' ');
                const rows = Object.fromEntries([...from, ...to].map((name) => [name, make('li', {textContent: name})]));
                const list = make('ul', {}, ...[...from].map((name) => rows[name]));
                const observer = new MutationObserver(() => {});
                observer.observe(list, {childList: true});
                updateChildren(list, [...to].map((name) => rows[name]));
                const added = observer.takeRecords().flatMap((one) => [...one.addedNodes]);
                return `${list.textContent} ${added.map((row) => row.textContent).join('')}`;
              });
              return moved.join(', ');
            });
            """);

    assertThat(moved).isEqualTo("BCDA A, BCAD A, DABC D, CDEAB AB, BDACE AC, CXA XA, ABC , XY XY");
  }

  @Test
  void measuresRatesAnewWhenAnotherGatewaysClockIsBehindOrAhead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object measured =
        browser.run(
            """
            const orders = {outboxAndPrivateQueues: 0, confirmed: 0, paid: 0, cancelled: 0, expired: 0, rejected: 0};
            const at = (second, admitted) =>
              ({at: `2026-11-28T10:00:${second}Z`, ledgers: [{skuId: 1, decides: 'REDIS', orders: {...orders, admitted}}]});
            return import(document.querySelector('link[href$="/rates.js"]').href).then(({history, measure}) => {
              const times = [at(20, 0), at(22, 20), at(12, 40), at(14, 60), at(54, 80), at(56, 100)];
              const rates = times.map((one) => measure(one)?.admitted ?? 'none');
              return `${rates} ${history.length}`;
            });
            """);

    assertThat(measured).isEqualTo("none,10,none,10,none,10 2");
  }

  /** Until the page gives up: something else holds the row of the SKU. */
  private static void askInVain(String action, long sku) throws SQLException {
    try (var mysql = pipeline.mysql().connect();
        var lock = mysql.createStatement()) {
      lock.execute("BEGIN");
      lock.execute("SELECT * FROM products WHERE sku_id = " + sku + " FOR UPDATE");
      page.ask(action);
      browser.press("#confirm-yes");
      browser.awaitText("#audit li.bad", action.toLowerCase(Locale.ROOT) + " SKU " + sku);
    }
  }

  private static long requests(String end) {
    return (long)
        browser.run(
            "return performance.getEntriesByType('resource')"
                + ".filter(call => call.name.endsWith(arguments[0])).length;",
            end);
  }

  @Tag("proof")
  @Test
  void saysWhatARefusalMeansAndDoesNothingUnconfirmed() {
    onSale(3002);
    page.open(pipeline.tokens().operator()).choose(3002).ask("Change stock…");
    page.fill("delta", "50");
    browser.press("#confirm-yes");
    browser.awaitText("#confirm-problem", "INVALID_REQUEST: reason must be");
    browser.awaitText("#audit li.bad", "stock SKU 3002: INVALID_REQUEST");

    page.fill("delta", "-1000").fill("reason", "too many");
    page.confirm("stock SKU 3002 by -1000: REFUSED");
    page.ask("Close");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    assertThat(pipeline.shop().buy(9, 3002, 1, "not-closed-at-all").status()).isEqualTo(202);
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
  void aLateAnswerLeavesTheNextDialogAlone() {
    onSale(3014);
    page.open(pipeline.tokens().operator()).choose(3014);
    browser.hold("/3014/stock");
    page.ask("Change stock…").fill("delta", "1");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.ask("Close");
    browser.release("/3014/stock");
    browser.awaitText("#audit li.bad", "stock SKU 3014: INVALID_REQUEST");
    assertThat(browser.text("#confirm-problem")).isEmpty();
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");

    browser.hold("/3014/stock");
    browser.hold("/3014/pause");
    page.ask("Change stock…").fill("delta", "1").fill("reason", "found");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.ask("Pause");
    browser.press("#confirm-yes");
    browser.release("/3014/stock");
    browser.awaitText("#audit li", "stock SKU 3014 by 1: DONE");
    assertThat(browser.text("#confirm-title")).isEqualTo("Pause SKU 3014?");
    assertThat(browser.isEnabled("#confirm-yes")).as("a second click sends it again").isFalse();

    browser.release("/3014/pause");
    browser.awaitText("#audit li", "pause SKU 3014: PAUSED");
    browser.awaitHidden("#confirm");
  }

  @Tag("proof")
  @Test
  void showsEachRowOnceWhenMoreIsClickedTwice() {
    for (int charge = 1; charge <= 25; charge++) {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
                  + " amount_cents, detail) VALUES (UNHEX(SHA2('twice %d', 256)), 'SECOND_CHARGE',"
                      .formatted(charge)
                  + " 'CHARGED', 'ch-twice-%d', 4711, 9900, '')".formatted(charge));
    }
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#more-charges");
      browser.cut("unexplained-charges?state=OPEN&limit=20&after");
      browser.press("#more-charges");
      browser.awaitText("#charges-problem", "They could not be read (no answer).");
      browser.heal();
      eventually().until(() -> !browser.isShown("#charges-problem:not(:empty)"));
      browser.hold("unexplained-charges?state=OPEN&limit=20&after");
      browser.press("#more-charges");
      browser.press("#more-charges");
      assertThat(browser.held("unexplained-charges?state=OPEN&limit=20&after")).isOne();
      browser.release("unexplained-charges?state=OPEN&limit=20&after");
      eventually().until(() -> browser.all("#charges tr").size() == 25);
    } finally {
      pipeline.mysql().execute("DELETE FROM unexplained_charge WHERE charge_id LIKE 'ch-twice-%'");
    }
  }

  @Tag("proof")
  @Test
  void keepsTheFocusInSalesThatWereAskedForTwice() {
    putSalesOfTwoPages(3015);
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#more-sales");
      browser.cut("admin/v1/skus");
      browser.press("#more-sales");
      browser.awaitText("#sales-problem", "No more sales could be read (no answer).");
      browser.heal();
      browser.hold("admin/v1/skus");
      browser.press("#more-sales");
      browser.press("#more-sales");
      browser.release("admin/v1/skus");
      browser.awaitHidden("#more-sales");
      long all = pipeline.mysql().number("SELECT COUNT(*) FROM products" + SKUS);
      eventually().until(() -> (long) browser.all("#sales-rows tr").size() == all);

      browser.run("document.querySelector('#sales-rows tr:last-child button').focus();");
      String first =
          (String) browser.run("return document.querySelector('#sales-rows tr').dataset.key;");
      pipeline.mysql().execute("UPDATE products SET name = 'Seen' WHERE sku_id = " + first);
      browser.awaitText("#sales-rows tr", "Seen"); // a snapshot later
      assertThat(browser.isShown("#sales-rows tr:last-child button:focus")).isTrue();
    } finally {
      forgetSalesOfTwoPages();
    }
  }

  @Tag("proof")
  @Test
  void showsWhatSomebodyElseHasChangedInTheSalesThatFollowThoseOfASnapshot() {
    putSalesOfTwoPages(3045);
    try {
      page.open(pipeline.tokens().operator());
      browser.press("#more-sales");
      browser.awaitHidden("#more-sales");
      browser.awaitShown("#sales-rows tr[data-key='390001']");

      pipeline.mysql().execute("UPDATE products SET name = 'Renamed' WHERE sku_id = 390001");
      passAMinute();

      browser.awaitText("#sales-rows tr[data-key='390001']", "Renamed");
    } finally {
      forgetSalesOfTwoPages();
    }
  }

  /** With 210 more like it, whose sales are over. */
  private static void putSalesOfTwoPages(long sku) {
    put(sku);
    for (int skuId = 390_001; skuId <= 390_210; skuId++) {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                  + " limit_per_user, opens_at, closes_at) SELECT "
                  + skuId
                  + ", name, price_cents, stock, initial_stock, policy, limit_per_user,"
                  + " '2020-01-01', '2020-01-02' FROM products WHERE sku_id = "
                  + sku);
    }
  }

  private static void forgetSalesOfTwoPages() {
    pipeline.mysql().execute("DELETE FROM products WHERE sku_id BETWEEN 390001 AND 390210");
  }

  @Tag("proof")
  @Test
  void downloadsTheAuditsOfAllSalesAndSaysWhichReadHasFailed() {
    onSale(3017);
    eventually().until(() -> pipeline.admin().audit(3017).status() == 200);
    auditForTomorrow(3017);
    pipeline
        .mysql()
        .execute(
            "INSERT INTO daily_audit (day, sku_id, state, %1$s)".formatted(COUNTS)
                + " WITH RECURSIVE one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < 1000)"
                + " SELECT day, 395000 + n, state, %1$s FROM daily_audit, one WHERE sku_id = 3017"
                    .formatted(COUNTS));
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#audits-csv");
      List<String> lines = browser.offeredBy("#audits-csv").lines().toList();
      String ofItsDay = "SELECT COUNT(*) FROM daily_audit WHERE day = ?";
      long all = pipeline.mysql().number(ofItsDay, lines.get(1).split(",", -1)[0]);
      assertThat(lines).hasSize((int) all + 1);

      browser.cut("audits?limit=80");
      browser.press("#audits-csv");
      browser.awaitText("#audits-problem", "No file was made (no answer). Try again.");
      browser.cut("audits?limit=20");
      browser.press("#more-audits");
      browser.awaitText("#audits-problem", "The audits could not be read (no answer).");
      assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
      browser.heal();
      eventually().until(() -> !browser.isShown("#audits-problem:not(:empty)"));
    } finally {
      pipeline.mysql().execute("DELETE FROM daily_audit WHERE sku_id BETWEEN 395001 AND 396000");
    }
  }

  /** The same audit for the next day, which may begin during the test: at 03:00 UTC. */
  private static void auditForTomorrow(long sku) {
    pipeline
        .mysql()
        .execute(
            ("INSERT IGNORE INTO daily_audit (day, sku_id, state, %1$s) SELECT day + INTERVAL 1 DAY,"
                    + " sku_id, state, %1$s FROM daily_audit WHERE sku_id = %2$d")
                .formatted(COUNTS, sku));
  }

  /** Also when its row is on no page that is shown. */
  @Tag("proof")
  @Test
  void showsWhatAnAuditHasFoundWhereItSaysWhatWasDone() {
    onSale(3040);
    String stock = "UPDATE products SET stock = stock %s 1 WHERE sku_id = 3040";
    page.open(pipeline.tokens().operator()).choose(3040);
    pipeline.mysql().execute(stock.formatted("+"));
    try {
      page.act("Audit…", "audit SKU 3040: ");

      browser.awaitText("#audit li.bad", "stock is 101; 100 units less 0 sold are 100");
    } finally {
      pipeline.mysql().execute(stock.formatted("-"));
    }
    page.act("Audit…", "audit SKU 3040: no difference");
    assertThat(browser.all("#audit li.bad")).hasSize(1);
  }

  /** A cent that has no entry. */
  @Tag("proof")
  @Test
  void marksACheckOfTheWalletsThatHasFoundSomething() {
    pipeline.admin().recharge(3041, 1_000, "found-by-the-page");
    String balance =
        "UPDATE wallet SET balance_cents = balance_cents %s 1, state = 'ACTIVE'"
            + " WHERE user_id = 3041";
    page.open(pipeline.tokens().operator());
    pipeline.mysql().execute(balance.formatted("+"));
    try {
      page.askAboutWallets("Check all wallets…").confirm("check wallets: ");

      browser.awaitText("#audit li.bad", "user 3041: balance 1001");
    } finally {
      pipeline.mysql().execute(balance.formatted("-"));
    }
    page.askAboutWallets("Check all wallets…").confirm("no difference");
  }

  @Tag("proof")
  @Test
  void showsTheAuditsAndTheCheckOfTheWalletsThatWereMadeOvernight() {
    onSale(3044);
    eventually().until(() -> pipeline.admin().audit(3044).status() == 200);
    auditForTomorrow(3044);
    eventually().until(() -> pipeline.admin().checkWallets().status() == 200);
    page.open(pipeline.tokens().operator());
    browser.awaitShown("#audits button");
    try {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO daily_audit (day, sku_id, state, %1$s)".formatted(COUNTS)
                  + " SELECT day, 1, state, %1$s FROM daily_audit WHERE sku_id = 3044"
                      .formatted(COUNTS));
      passAMinute();
      browser.awaitShown("#audits tr[data-audit='1']");

      browser.run("document.querySelector('#audits button').focus();");
      pipeline.mysql().execute("UPDATE wallet_check SET wallets = 123456");
      passAMinute();
      browser.awaitText("#wallet-check", "123456 wallets");
      assertThat(browser.isShown("#audits button:focus")).isTrue();
    } finally {
      pipeline.mysql().execute("DELETE FROM daily_audit WHERE sku_id = 1");
    }
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

  @Tag("proof")
  @Test
  void replaysAndDiscardsDeadLetters() throws Exception {
    page.open(pipeline.tokens().operator());
    publish(0, "not an order");
    publish(Partition.ofSku(3004), order(3004, 77));
    browser.awaitText("#dead-letters", "UNREADABLE");
    browser.awaitText("#dead-letters", "UNKNOWN_SKU");
    assertThat(browser.text("table:has(#dead-letters) thead")).contains("Last, UTC");

    put(3004); // the SKU exists from now on
    browser.pressLabelled(letter("UNKNOWN_SKU"), "Discard…");
    browser.awaitText("#confirm-text", "its units and quota go back");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    browser.pressLabelled(letter("UNKNOWN_SKU"), "Replay…");
    page.confirm("replay dead letter");
    browser.pressLabelled(letter("UNREADABLE"), "Replay…");
    page.confirm("replay dead letter");
    String attempts = "SELECT MAX(attempts) FROM dead_letter WHERE reason = 'UNREADABLE'";
    eventually() // it has come back, as unreadable as it was
        .until(() -> pipeline.mysql().number(attempts) > 1);
    browser.pressLabelled(letter("UNREADABLE"), "Discard…");
    browser.awaitText("#confirm-text", "no units go back");
    page.fill("reason", "a test").confirm("discard dead letter");

    browser.awaitShown("#no-dead-letters");
    eventually().until(() -> pipeline.sales().settledOrders(3004) == 1);
  }

  @Tag("proof")
  @Test
  void readsOnFromOldDeadLettersToNewerOnes() {
    for (int letter = 1; letter <= 21; letter++) {
      keepLetter("of-the-page-" + letter, null, "UNREADABLE");
    }
    try {
      page.open(pipeline.tokens().operator());
      browser.pressLabelled("#more-dead-letters", "Newer ones");

      long newest = pipeline.mysql().number("SELECT MAX(id) FROM dead_letter");
      browser.awaitShown("#dead-letters tr:last-child[data-letter='" + newest + "']");
    } finally {
      forgetLetters();
    }
  }

  /** One call has 200 at most. */
  @Test
  void keepsAllDeadLettersThatAreShownWhenTheyAreReadAgain() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const letter = (id) => ({id, reason: 'UNREADABLE', detail: '', attempts: 1, lastFailedAt: '2026-11-29T10:20:30Z'});
            const letters = Array.from({length: 260}, (_, i) => letter(i + 1));
            window.fetch = async (url) => {
              const {limit, after = 0} = Object.fromEntries(new URL(url, location).searchParams);
              const deadLetters = letters.filter(({id}) => id > after).slice(0, limit);
              const next = deadLetters.length < limit ? null : deadLetters.at(-1).id;
              return new Response(JSON.stringify({deadLetters, next}));
            };
            const more = document.querySelector('#more-dead-letters');
            const note = () => `${document.querySelectorAll('#dead-letters tr').length} ${more.hidden}`;
            return import(document.querySelector('link[href$="/dead-letters.js"]').href).then(async ({readDeadLetters}) => {
              await readDeadLetters();
              const shown = [note()];
              while (!more.hidden) {
                more.click();
                await new Promise((resolve) => setTimeout(resolve));
              }
              shown.push(note());
              letters.shift();
              await readDeadLetters();
              shown.push(note());
              letters.push(letter(261));
              await readDeadLetters();
              return [...shown, note()].join();
            });
            """);

    assertThat(shown).isEqualTo("20 false,260 true,259 true,259 false");
  }

  /** As after an outage, when MySQL is slow and dead letters keep coming. */
  @Test
  void showsDeadLettersWhoseReadTakesLongerThanTheirNumberStays() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const answers = [];
            window.fetch = () => new Promise((resolve) => answers.push(resolve));
            const answer = async (...ids) => {
              const deadLetters = ids.map((id) => ({id, reason: 'UNREADABLE', detail: '', attempts: 1, lastFailedAt: '2026-11-29T10:20:30Z'}));
              answers.shift()(new Response(JSON.stringify({deadLetters, next: null})));
              for (let turn = 0; turn < 100 && rows() < ids.length; turn++) await new Promise((resolve) => setTimeout(resolve));
            };
            const rows = () => document.querySelectorAll('#dead-letters tr').length;
            const note = () => `${rows()} shown, ${answers.length} asked`;
            return import(document.querySelector('link[href$="/dead-letters.js"]').href).then(async ({deadLettersChanged}) => {
              [1, 2, 3].forEach(deadLettersChanged);
              const shown = [note()];
              await answer(1);
              shown.push(note());
              deadLettersChanged(3);
              shown.push(note());
              await answer(1, 2, 3);
              deadLettersChanged(3);
              return [...shown, note()].join();
            });
            """);

    assertThat(shown)
        .isEqualTo("0 shown, 1 asked,1 shown, 0 asked,1 shown, 1 asked,3 shown, 0 asked");
  }

  @Test
  void keepsTheFocusOnADeadLetterWhenAnotherOneComes() {
    keepLetter("of-the-page-first", null, "UNREADABLE");
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown(letter("UNREADABLE"));
      browser.run("document.querySelector('#dead-letters button').focus();");

      keepLetter("of-the-page-second", null, "FAILED_TOO_OFTEN");

      browser.awaitShown(letter("FAILED_TOO_OFTEN"));
      assertThat(browser.isShown("#dead-letters button:focus")).isTrue();
    } finally {
      forgetLetters();
    }
  }

  /** DeadLetterResolver writes nothing for these. */
  @Tag("proof")
  @Test
  void promisesNoRejectionWhereDiscardingOnlyMarksTheLetter() {
    pipeline.admin().sellStrong(3042, PurchasePolicy.LIMITED, 5, 100);
    onSale(3043);
    keepLetter("of-the-page-strong", 3042L, "OTHER_POLICY");
    keepLetter("of-the-page-stored", 3043L, "OTHER_CONTENT");
    keepLetter("of-the-page-refused", 3043L, "FAILED_TOO_OFTEN");
    try {
      page.open(pipeline.tokens().operator());
      assertDiscardSays("OTHER_POLICY", "Only marks the letter as done: its sale is strong");
      assertDiscardSays("OTHER_CONTENT", "Only marks the letter as done: MySQL has another order");
      assertDiscardSays("FAILED_TOO_OFTEN", "its units and quota go back");
    } finally {
      forgetLetters();
    }
  }

  private static void assertDiscardSays(String reason, String text) {
    browser.pressLabelled(letter(reason), "Discard…");
    browser.awaitText("#confirm-text", text);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
  }

  /** An open dead letter, whose order is readable if it has a SKU. */
  private static void keepLetter(String payload, @Nullable Long skuId, String reason) {
    pipeline
        .mysql()
        .execute(
            "INSERT INTO dead_letter (order_id, sku_id, payload, payload_hash, reason, detail,"
                + " attempts, first_failed_at, last_failed_at) VALUES"
                + " (%1$s, %1$s, '%2$s', UNHEX(SHA2('%2$s', 256)), '%3$s', '', 1, NOW(), NOW())"
                    .formatted(skuId, payload, reason));
  }

  private static void forgetLetters() {
    pipeline.mysql().execute("DELETE FROM dead_letter WHERE payload LIKE 'of-the-page-%'");
  }

  @Tag("proof")
  @Test
  void showsAndClosesUnexplainedCharges() {
    page.open(pipeline.tokens().operator());
    pipeline
        .mysql()
        .execute(
            "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
                + " amount_cents, detail) VALUES (UNHEX(SHA2('a page', 256)), 'SECOND_CHARGE',"
                + " 'CHARGED', 'ch-page', 4711, 9900, '')");
    browser.awaitText("#charges", "ch-page");
    browser.awaitText("#charges", "99.00");
    assertThat(browser.text("table:has(#charges) thead")).contains("Received, UTC");

    browser.pressLabelled("#charges tr[data-charge=ch-page] button", "Close…");
    browser.awaitText("#confirm-text", "no money is moved");
    page.fill("reason", "refunded at the provider").confirm("close charge ch-page");

    browser.awaitShown("#no-charges");
  }

  /** The number of them in each snapshot stays 1. */
  @Tag("proof")
  @Test
  void showsAChargeThatCameWhenAnotherOneWasClosed() throws SQLException {
    String insert =
        "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
            + " amount_cents, detail) VALUES (UNHEX(SHA2('%1$s', 256)), 'SECOND_CHARGE',"
            + " 'CHARGED', '%1$s', 4711, 9900, '')";
    pipeline.mysql().execute(insert.formatted("ch-closed"));
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#charges tr[data-charge=ch-closed]");
      browser.awaitText("#tiles div:nth-child(13) dd", "1");
      try (var mysql = pipeline.mysql().connect();
          var change = mysql.createStatement()) {
        change.execute("BEGIN");
        change.execute("DELETE FROM unexplained_charge WHERE charge_id = 'ch-closed'");
        change.execute(insert.formatted("ch-new"));
        change.execute("COMMIT");
      }
      passAMinute();

      browser.awaitShown("#charges tr[data-charge=ch-new]");
    } finally {
      pipeline
          .mysql()
          .execute("DELETE FROM unexplained_charge WHERE charge_id IN ('ch-closed', 'ch-new')");
    }
  }

  /** Sets the page's clock forward, by which it reads again what is old. */
  private static void passAMinute() {
    browser.run(
        "const real = performance.now.bind(performance);"
            + " performance.now = () => real() + 61_000;");
  }

  @Tag("proof")
  @Test
  void keepsWhatACheckHasFoundWhenAnOlderReadIsAnsweredAfterIt() {
    page.open(pipeline.tokens().operator());
    browser.holdAnswer("audits?limit=20");
    page.askAboutWallets("Check all wallets…").confirm("no difference");
    eventually().until(() -> browser.held("audits?limit=20") == 1);
    pipeline.admin().recharge(3032, 1_000, "after-the-first-check");
    long entries = pipeline.mysql().number("SELECT COUNT(*) FROM wallet_entry");
    page.askAboutWallets("Check all wallets…").confirm(entries + " entries, no difference");
    browser.awaitText("#wallet-check", entries + " entries");

    browser.releaseAnswer("audits?limit=20");

    assertThat(browser.text("#wallet-check")).contains(" " + entries + " entries");
  }

  @Test
  void saysWhatWasNotCheckedOrCouldNotBeRead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object said =
        browser.run(
            """
            const counts = new Proxy({difference: 0}, {get: (known, name) => known[name] ?? 1});
            const ledger = {skuId: 7, decides: 'REDIS', balanced: true, units: counts, orders: counts, mysql: counts, queue: null};
            const queue = {queue: 'q', ready: 0, unacked: 0};
            const shard = (queue) => ({partition: {partition: 1}, units: counts, queue});
            const sku = {skuId: 7, name: 'A thing', state: 'OPEN', decides: 'REDIS', opensAt: '', closesAt: ''};
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            const snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku], ledgers: [ledger],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const text = (selector) => document.querySelector(selector).textContent;
            return import(document.querySelector('link[href$="/board.js"]').href).then(({renderBoard}) => {
              const said = (changed) => {
                renderBoard({...snapshot, ...changed}, null, {});
                return `${text('#ledger-verdict')} | ${text('#sales-rows td:last-child')} | ${text('#tiles div:nth-child(8) dd + dd')}`;
              };
              const outboxes = [0, 1].map((partition) => ({partition, orders: 0, oldestMs: 0}));
              const inFallback = (...shards) => {
                const words = said({
                  skus: [{...sku, decides: 'MYSQL', fallback: 'ACTIVE', shards: 4}],
                  ledgers: [{...ledger, shards}],
                });
                const actions = [...document.querySelectorAll('#actions button')].map((button) => button.textContent);
                return `${words}, ${actions.includes('Reconcile…')}, ${text('#units-out tbody th')}, ${text('#shards caption')}`;
              };
              const ofMySql = {...shard(null), decides: 'MYSQL'};
              const away = (refusing) => {
                renderBoard({...snapshot, lanes: {lanes: [], outboxes, unavailable: [], refusing}}, null, {});
                return text('#away');
              };
              const withoutFallback = (state) => {
                const fallback = {mode: 'off', state, term: 3, startedBy: 'alice', changedAt: '2026-11-28T10:20:30Z',
                  salesOfRedis: 1, salesInFallback: 0, reservedUnits: 0, sales: [], gateways: []};
                renderBoard({...snapshot, fallback}, null, {});
                return text('#fallback-state');
              };
              return [
                said({}),
                said({ledgers: [{...ledger, queue}]}),
                said({ledgers: [{...ledger, shards: [shard(queue), shard(null)]}]}),
                said({ledgers: [{...ledger, shards: [shard(queue), shard(queue)]}]}),
                said({ledgers: [{...ledger, balanced: false, unbalancedSince: '2026-11-28T10:20:30Z', readAt: '2026-11-28T10:20:42Z'}]}),
                said({ledgers: [{...ledger, decides: 'MYSQL'}], services: {...services, mysql: 'DOWN'}}),
                inFallback(ofMySql, shard(queue)),
                inFallback(ofMySql, ofMySql),
                away([1]),
                away([0, 1]),
                withoutFallback('REDIS'),
                withoutFallback('MYSQL'),
              ].join('\\n');
            });
            """);

    String unchecked =
        "The ledger balances, but its queue was not checked | queue not checked | no order this minute";
    String balances =
        "The ledger balances: every unit and every order is accounted for | balances | ";
    assertThat(said)
        .isEqualTo(
            String.join(
                "\n",
                unchecked,
                balances + "no order this minute",
                unchecked,
                balances + "no order this minute",
                "The ledger is off: reconcile, and see docs/operations.md | off for 12 s | "
                    + "no order this minute",
                balances,
                balances + "no order this minute, true, Admissible in Redis, Stock, by shard",
                balances + "no order this minute, true, Stock in MySQL, Stock, by shard",
                "Redis takes no writes for partitions 1.",
                "Redis takes no writes.",
                "It is switched off (seckill.fallback): while Redis is away, its sales are answered 503.",
                "MySQL decides the sales of Redis. Fallback 3, started by alice, since 10:20:30 UTC."));
  }

  @Tag("proof")
  @Test
  void saysThatOrderConsumerIsAwayAndWhenItIsBack() {
    onSale(3003);
    page.open(pipeline.tokens().operator());
    page.awaitService("consumer", "UP");
    page.awaitService("broker", "UP");
    page.awaitService("relay", "UP");

    pipeline.stop(Service.CONSUMER);
    page.awaitService("consumer", "DOWN");
    browser.awaitText("#away", "order-consumer does not answer");

    pipeline.run(Service.CONSUMER);
    page.awaitService("consumer", "UP");
    browser.awaitHidden("#away");
  }

  /** A screen reader speaks an alert each time it changes. */
  @Test
  void saysOnceThatTheGatewayDoesNotAnswerAndShowsForHowLong() {
    page.open(pipeline.tokens().operator());
    browser.run(
        """
        window.changes = {away: 0, age: 0};
        for (const id of ['away', 'age']) {
          const count = new MutationObserver(() => window.changes[id]++);
          count.observe(document.getElementById(id), {childList: true});
        }
        ReadableStreamDefaultReader.prototype.read = () => {
          window.silent = true; // after the last snapshot
          return new Promise(() => {});
        };
        """);
    eventually().until(() -> Boolean.TRUE.equals(browser.run("return window.silent;")));
    browser.run("window.changes.away = 0;");
    passAMinute();

    eventually().until(() -> changes("age") >= 3);

    assertThat(changes("away")).isLessThanOrEqualTo(1);
    assertThat(browser.text("#away"))
        .isEqualTo("The gateway does not answer: what you see is old.");
    assertThat(browser.text("#age")).matches("The last figures came \\d+ s ago\\.");
  }

  private static long changes(String id) {
    return (Long) browser.run("return window.changes[arguments[0]];", id);
  }

  @Tag("proof")
  @Test
  void saysOfHowManySkusItsFiguresAre() {
    onSale(3008);
    page.open(pipeline.tokens().operator());
    try {
      for (int skuId = 3901; skuId <= 3925; skuId++) {
        pipeline
            .mysql()
            .execute(
                "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                    + " limit_per_user, opens_at, closes_at, state, epoch) SELECT "
                    + skuId
                    + ", name, price_cents, stock, initial_stock, policy, limit_per_user,"
                    + " '2020-01-01', closes_at, 'CLOSED', epoch FROM products"
                    + " WHERE sku_id = 3008");
      }
      long all =
          pipeline.mysql().number("SELECT COUNT(*) FROM products" + SKUS + " AND state <> 'NEW'");
      browser.awaitText("#extent", " of " + all + " SKUs, open sales first");
      assertThat(browser.text("#extent")).matches("Rates.*: (\\d|1\\d|20) of .*");
    } finally {
      pipeline.mysql().execute("DELETE FROM products WHERE sku_id BETWEEN 3901 AND 3925");
    }
  }

  @Tag("proof")
  @Test
  void saysWhyItShowsNothingWhenTooManyWatch() throws Exception {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.awaitShown("#token");
    List<InputStream> others = new ArrayList<>();
    try {
      eventually().until(() -> watch(others), watching -> watching == MOST_VIEWERS);
      browser.type("#token", pipeline.tokens().operator());
      browser.press("#sign-in-form button[type=submit]");
      browser.awaitText("#away", "BUSY: Too many operators are watching");
      assertThat(browser.isShown("#tiles dd")).isFalse();
    } finally {
      for (InputStream other : others) {
        other.close();
      }
    }
    browser.awaitShown("#tiles dd");
    browser.awaitHidden("#away");
  }

  @Tag("proof")
  @Test
  void letsNobodyInWithoutAnOperatorsTokenButHasOneForDemos() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.awaitShown("#token");
    browser.type("#token", pipeline.tokens().shopper(7));
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "scope");
    assertThat(browser.isShown("#board")).isFalse();
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.paste("#token", pipeline.tokens().operator() + "\u200b"); // which no browser sends
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "This is no token.");

    browser.press("#demo");
    browser.awaitShown("#tiles dd");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.press("#sign-out");
    browser.awaitShown("#token");
  }

  /** Its stream goes on with the token with which it was opened. */
  @Test
  void asksForAnotherTokenWhenAReadIsRefused() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object asked =
        browser.run(
            """
            window.fetch = async () => new Response('{"code": "UNAUTHORIZED"}', {status: 401});
            const problem = document.querySelector('#sign-in-problem');
            const context = {token: () => 'a token', signInAgain: () => (problem.textContent = 'Sign in again.')};
            const sku = {skuId: 7, name: 'A thing', state: 'OPEN', decides: 'MYSQL', opensAt: '', closesAt: ''};
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            const snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku], ledgers: [],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const load = (module) => import(document.querySelector(`link[href$="/${module}.js"]`).href);
            return Promise.all(['dead-letters', 'unexplained-charges', 'audits', 'board'].map(load)).then(async ([letters, charges, audits, board]) => {
              const chosen = async () => {
                board.renderBoard(snapshot, null, context);
                for (let turn = 0; turn < 100 && problem.textContent === ''; turn++) await new Promise((resolve) => setTimeout(resolve));
              };
              const asked = [];
              for (const read of [letters.readDeadLetters, charges.readUnexplainedCharges, audits.readAudits, () => board.readMoreSales(context, 1), chosen]) {
                problem.textContent = '';
                await read();
                asked.push(problem.textContent.includes('Sign in again.'));
              }
              return asked.join();
            });
            """);

    assertThat(asked).isEqualTo("true,true,true,true,true");
  }

  @Test
  void showsNothingToWhoHasSignedOutWhenBackBringsThePageAsItWasLeft() {
    page.open(pipeline.tokens().operator());

    browser.run("sessionStorage.removeItem('seckill.operator');"); // signed out on a later page
    browser.comeBack();

    browser.awaitShown("#token");
    assertThat(browser.isShown("#board")).isFalse();
  }

  private static void put(long skuId) {
    eventually()
        .until(
            () -> pipeline.admin().putSku(skuId, PurchasePolicy.LIMITED, 5, 100).status() == 201);
  }

  private static void onSale(long skuId) {
    pipeline.admin().sell(skuId, PurchasePolicy.LIMITED, 5, 100);
  }

  /** Opens one more stream, if the limit allows it; returns the number of open streams. */
  private static int watch(List<InputStream> watching) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + pipeline.adminPort() + "/admin/v1/events"))
            .header("Authorization", "Bearer " + pipeline.tokens().operator())
            .build();
    HttpResponse<InputStream> answer =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    if (answer.statusCode() == 200) {
      watching.add(answer.body());
    }
    return watching.size();
  }

  private static String letter(String reason) {
    return "#dead-letters tr[data-reason=" + reason + "] button";
  }

  private static String order(long skuId, long user) {
    int partition = Partition.ofSku(skuId);
    long now = System.currentTimeMillis();
    return OrderMessageCodec.encode(
        new OrderMessage(
            OrderId.of(now, partition, 200, 1),
            user,
            skuId,
            1,
            "a-replayed-order",
            PurchasePolicy.LIMITED,
            1,
            1,
            now,
            null));
  }

  private static void publish(int partition, String text) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(pipeline.brokerUrl());
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.basicPublish(
          BrokerTopology.ORDERS_EXCHANGE,
          BrokerTopology.routingKey(partition),
          true,
          new BasicProperties.Builder().deliveryMode(2).build(),
          text.getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
    }
  }
}
