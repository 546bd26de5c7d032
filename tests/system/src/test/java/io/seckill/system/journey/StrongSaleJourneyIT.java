package io.seckill.system.journey;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.system.Pipeline;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A strong sale from its creation to its end; Redis ends halfway, and nobody notices. */
@Tag("proof")
@ExtendWith(TestServers.class)
class StrongSaleJourneyIT {

  private static final long SKU = 8_101;

  private static RedisServer redis;
  private static Pipeline pipeline;

  private final Purchases purchases = new Purchases();

  @BeforeAll
  static void start() {
    redis =
        RedisServer.start("appendonly yes", "appendfsync always", "hash-max-listpack-value 128");
    pipeline =
        Pipeline.over(
            "strong-sale",
            new Pipeline.Stores(
                "redis://" + redis.host() + ":" + redis.port() + "/0",
                TestServers.rabbit().newVhost().url(),
                TestServers.mysql().newDatabase()));
    List.of(Service.CONSUMER, Service.RELAY, Service.GATEWAY).forEach(pipeline::run);
  }

  @AfterAll
  static void stop() {
    pipeline.close();
    redis.close();
  }

  @Test
  void goesFromItsCreationToItsEndWithoutRedis() throws SQLException {
    Answer created = pipeline.admin().putSku(SKU, PurchasePolicy.LIMITED, 2, 3, Decider.MYSQL);
    assertThat(created.status()).as(created.toString()).isEqualTo(201);
    assertThat(created.text("decides")).isEqualTo("MYSQL");
    done(pipeline.admin().preheat(SKU));
    eventually().until(() -> pipeline.shop().page(SKU).status() == 200);
    assertThat(pipeline.shop().buy(41, SKU, 1, "before-it-opens").code()).isEqualTo("NOT_OPEN");
    done(pipeline.admin().open(SKU));
    awaitOnSale();

    String paid = confirmed(41, 1);
    redis.kill();
    done(pipeline.admin().changeStock(SKU, 1, "one-more-unit"));

    assertThat(buy(41, 1).text("orderId")).as("order of the repeat").isEqualTo(paid);
    assertThat(pipeline.shop().buy(41, SKU, 2, key(41)).code()).isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertThat(pipeline.shop().buy(41, SKU, 2, "above-the-limit").code())
        .isEqualTo("QUOTA_EXCEEDED");
    assertThat(pipeline.shop().order(41, paid).text("status")).isEqualTo("CONFIRMED");
    assertThat(pipeline.shop().order(42, paid).status()).as("somebody else's order").isEqualTo(404);
    assertThat(pipeline.shop().ordersOf(41).json().at("/orders/0/orderId").asString())
        .isEqualTo(paid);
    assertThat(pipeline.shop().pay(41, paid).text("status")).isEqualTo("PAID");
    purchases.ended(paid, "PAID");

    String cancelled = confirmed(42, 2);
    refused(43, 2, "TOO_FEW_LEFT");
    assertThat(pipeline.shop().cancel(42, cancelled).text("status")).isEqualTo("CANCELLED");
    purchases.ended(cancelled, "CANCELLED");
    confirmed(44, 2);

    stopsAndGoesOnByTheOperator();
    assertBalanced();

    redis.restart();
    SaleOffer offer = new SaleOffer(SKU, PurchasePolicy.LIMITED, 2, 4).strong();
    SaleAtRest sale =
        eventually()
            .ignoreExceptions() // of connections from before
            .until(() -> pipeline.sales().read(offer), read -> true);
    Guarantee.strong().forEach(guarantee -> guarantee.judge(sale, purchases));
    new LedgerBalances(pipeline.admin()).judge(sale, purchases);
    assertThat(sale.mysqlStock()).isZero();
  }

  private void stopsAndGoesOnByTheOperator() {
    done(pipeline.admin().pause(SKU));
    assertThat(pipeline.shop().buy(45, SKU, 1, "while-paused").code()).isEqualTo("PAUSED");
    done(pipeline.admin().resume(SKU));
    confirmed(45, 1);
    refused(46, 1, "SOLD_OUT");
    done(pipeline.admin().close(SKU));
    assertThat(pipeline.shop().buy(47, SKU, 1, "after-the-end").code()).isEqualTo("CLOSED");
  }

  private static void assertBalanced() {
    eventually() // for a reading that is younger than the last order
        .untilAsserted(
            () -> {
              Answer ledger = pipeline.admin().ledger(SKU);
              assertThat(ledger.status()).as(ledger.toString()).isEqualTo(200);
              assertThat(ledger.json().path("balanced").asBoolean()).as(ledger.toString()).isTrue();
              assertThat(ledger.json().at("/orders/admitted").asInt())
                  .as(ledger.toString())
                  .isEqualTo(4);
            });
  }

  private static void awaitOnSale() {
    eventually().until(() -> pipeline.shop().page(SKU).json().path("onSale").asBoolean());
  }

  private static void done(Answer answer) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
  }

  /** Buys; the answer says that the order is confirmed. */
  private String confirmed(long user, int quantity) {
    Answer answer = buy(user, quantity);
    assertThat(answer.text("status")).as(answer.toString()).isEqualTo("CONFIRMED");
    assertThat(answer.text("durableIn")).as(answer.toString()).isEqualTo("MYSQL");
    return answer.text("orderId");
  }

  private Answer buy(long user, int quantity) {
    purchases.attempt(SKU, user, key(user), quantity);
    Answer answer = Bounded.get(pipeline.shop().buyAsync(user, SKU, quantity, key(user)));
    assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
    purchases.accepted(SKU, user, key(user), answer.text("orderId"));
    return answer;
  }

  private void refused(long user, int quantity, String code) {
    long sentAtMs = System.currentTimeMillis();
    purchases.attempt(SKU, user, key(user), quantity);
    assertThat(Bounded.get(pipeline.shop().buyAsync(user, SKU, quantity, key(user))).code())
        .isEqualTo(code);
    purchases.refused(SKU, user, key(user), code, sentAtMs, System.currentTimeMillis());
    purchases.certainlyRefused(SKU, user, key(user));
  }

  private static String key(long user) {
    return "order-of-" + user;
  }
}
