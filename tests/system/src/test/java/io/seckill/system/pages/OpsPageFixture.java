package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** The operations page, used as by an operator: Chromium with the three real services. */
@ExtendWith({TestServers.class, SharedPipeline.class})
abstract class OpsPageFixture {

  /** Columns of an audit. */
  static final String COUNTS =
      "units, stock, confirmed_orders, confirmed_units, paid_orders, paid_units,"
          + " cancelled_orders, cancelled_units, expired_orders, expired_units, rejected_orders,"
          + " rejected_units, charged_cents, refunded_cents, refunds_due, repairs, differences,"
          + " detail, made_at";

  static Pipeline pipeline;
  static Browser browser;
  static OpsPage page;

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

  static void put(long skuId) {
    eventually()
        .until(
            () -> pipeline.admin().putSku(skuId, PurchasePolicy.LIMITED, 5, 100).status() == 201);
  }

  static void onSale(long skuId) {
    pipeline.admin().sell(skuId, PurchasePolicy.LIMITED, 5, 100);
  }

  /** The same audit for the next day, which may begin during the test: at 03:00 UTC. */
  static void auditForTomorrow(long sku) {
    pipeline
        .mysql()
        .execute(
            ("INSERT IGNORE INTO daily_audit (day, sku_id, state, %1$s) SELECT day + INTERVAL 1 DAY,"
                    + " sku_id, state, %1$s FROM daily_audit WHERE sku_id = %2$d")
                .formatted(COUNTS, sku));
  }

  /** Sets the page's clock forward, by which it reads again what is old. */
  static void passAMinute() {
    browser.run(
        "const real = performance.now.bind(performance);"
            + " performance.now = () => real() + 61_000;");
  }
}
