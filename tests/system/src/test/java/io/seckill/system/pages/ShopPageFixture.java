package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.Keys;
import org.openqa.selenium.interactions.Actions;

/**
 * The shop page, used as by a shopper, mistakes included: Chromium with the three real services.
 */
@ExtendWith({TestServers.class, SharedPipeline.class})
abstract class ShopPageFixture {

  static final String A_DAY_FAST = "const now = Date.now; Date.now = () => now() + 86_400_000;";

  static Pipeline pipeline;
  static TcpProxy link;
  static Browser browser;
  static ShopPage page;

  @BeforeAll
  static void start(Pipeline shared) throws IOException {
    pipeline = shared;
    link = TcpProxy.to("127.0.0.1", pipeline.shopPort());
    browser = Browser.desktop();
    page = new ShopPage(browser, "http://127.0.0.1:" + link.port());
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.open("about:blank");
    }
    if (link != null) {
      link.close();
    }
  }

  @AfterEach
  void noScriptFailedAndNoPolicyWasViolated() {
    assertThat(browser.complaints()).isEmpty();
  }

  static void onSale(long skuId, PurchasePolicy policy, int limit, long stock) {
    pipeline.admin().sell(skuId, policy, limit, stock);
  }

  /** Of the sales that have opened, the page lists 50, by their ends. */
  static void onSaleFrom(Instant opensAt, Duration length, long skuId) {
    Instant closesAt = opensAt.plus(length);
    pipeline
        .admin()
        .sell(skuId, PurchasePolicy.LIMITED, 5, 100, Decider.REDIS, 1, opensAt, closesAt);
  }

  static void onStrongSale(long skuId, long stock) {
    pipeline.admin().sellStrong(skuId, PurchasePolicy.LIMITED, 5, stock);
    eventually().until(() -> pipeline.shop().page(skuId).json().path("onSale").asBoolean());
  }

  static long ordersOf(long skuId) throws SQLException {
    return pipeline.sales().settledOrders(skuId);
  }

  /** Deletes Redis's records of a shopper's purchases of a SKU, as after a loss of data. */
  static void forget(long skuId, long user) {
    int buckets = Integer.parseInt(pipeline.redis().hget(RedisKeys.sku(skuId), "bucketCount"));
    pipeline.redis().del(RedisKeys.bucket(skuId, RedisKeys.bucketOf(user, buckets)));
  }

  static void show(String order) {
    browser.press("#order-list button[aria-label='Show " + order + "']");
    page.awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isEqualTo(order);
  }

  static String expiredTokenOf(long user) {
    return new ShopTokens("0".repeat(32), Duration.ofDays(-1)).shopper(user);
  }

  static void withAClockThatIsADayFast(Runnable opening) {
    withScript(A_DAY_FAST, opening);
  }

  /** Lets a script run first in the pages that are opened meanwhile. */
  static void withScript(String script, Runnable opening) {
    Map<String, Object> first = Map.of("source", script);
    Map<String, Object> added =
        browser.driver().executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", first);
    try {
      opening.run();
    } finally {
      browser.driver().executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", added);
    }
  }

  /**
   * Lets a script's {@code window.answer(isPurchase, send)} answer purchases and reads of orders;
   * {@code window.sent} counts purchases.
   */
  static void answerPurchases(String script) {
    browser.run(
        script
            + """
            const send = window.fetch;
            window.sent = 0;
            window.fetch = (url, options) => {
              const purchase = options.method === 'POST' && /skus\\/[0-9]+\\/orders$/.test(url);
              if (purchase) window.sent++;
              else if (!/v1\\/orders\\/[0-9]+/.test(url)) return send(url, options);
              return window.answer(purchase, () => send(url, options));
            };
            """);
  }

  /** Records in {@code window.waits} how long a function is to wait, and shortens the waits. */
  static void recordPausesOf(String function) {
    browser.run(
        """
        const timer = window.setTimeout;
        const recorded = arguments[0];
        window.waits = [];
        window.setTimeout = (done, ms) => {
          if (done.name !== recorded) return timer(done, ms);
          window.waits.push(ms);
          return timer(done, 20);
        };
        """,
        function);
  }

  /**
   * Opens a page and records in {@code window.waits} how long a function is to wait, in {@code
   * window.waiting} its timers that run; shortens the waits.
   */
  static void openRecordingPausesOf(String function, String address) {
    String often =
        """
        const timer = window.setTimeout;
        const clear = window.clearTimeout;
        window.waits = [];
        window.waiting = new Set();
        window.setTimeout = (done, ms) => {
          if (done.name !== '%s') return timer(done, ms);
          window.waits.push(ms);
          const id = timer(() => {
            window.waiting.delete(id);
            done();
          }, 500);
          window.waiting.add(id);
          return id;
        };
        window.clearTimeout = (id) => {
          window.waiting.delete(id);
          clear(id);
        };
        """;
    String url = "http://127.0.0.1:" + link.port() + address;
    withScript(often.formatted(function), () -> browser.open(url));
  }

  /** With jitter: shoppers do not read at the same moment. */
  static void assertAMinuteBetweenReads() {
    assertThat(browser.run("return window.waits.every((ms) => ms >= 45000 && ms <= 75000);"))
        .isEqualTo(true);
  }

  /** A browser's {@code performance.now()} stands still while the machine sleeps. */
  static void sleepAnHour() {
    browser.run(
        """
        const real = performance.now.bind(performance);
        performance.now = () => real() - 3_600_000;
        """);
  }

  static void tabTo(String id) {
    for (int press = 0; press < 20; press++) {
      if (id.equals(browser.run("return document.activeElement.id;"))) {
        return;
      }
      keys(Keys.TAB);
    }
    throw new AssertionError("no way to #" + id + " by keyboard");
  }

  static void keys(CharSequence... keys) {
    new Actions(browser.driver()).sendKeys(keys).perform();
  }
}
