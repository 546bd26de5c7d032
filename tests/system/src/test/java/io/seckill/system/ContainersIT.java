package io.seckill.system;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.NeedsContainers;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServer;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Buys through the whole pipeline on containers of redis:8, rabbitmq:4-management and mysql:9. The
 * other tests run on the servers of this machine's packages: MariaDB, and older ones.
 */
@NeedsContainers
class ContainersIT {

  private static RedisServer redis;
  private static RabbitServer rabbit;
  private static RabbitVhost vhost;
  private static MySqlServer mysql;
  private static Pipeline pipeline;

  private final Purchases purchases = new Purchases();

  @BeforeAll
  static void start() {
    var startingRabbit = CompletableFuture.supplyAsync(() -> RabbitServer.startContainer());
    var startingMySql = CompletableFuture.supplyAsync(() -> MySqlServer.startContainer());
    redis =
        RedisServer.startContainer(
            "appendonly yes", "appendfsync always", "hash-max-listpack-value 128");
    rabbit = Bounded.get(startingRabbit);
    vhost = rabbit.newVhost();
    mysql = Bounded.get(startingMySql);
    pipeline =
        Pipeline.over(
            "containers",
            new Pipeline.Stores(redis.newDatabase().url(), vhost.url(), mysql.newDatabase()));
    pipeline.startServices();
  }

  @AfterAll
  static void stop() {
    if (pipeline != null) {
      pipeline.close();
    }
    Stream.of(mysql, rabbit, redis).filter(Objects::nonNull).forEach(TestServer::close);
  }

  @Test
  void storesAPurchaseOnceHoweverOftenItIsRepeated() throws SQLException {
    SaleOffer offer = new SaleOffer(8_201, PurchasePolicy.LIMITED, 2, 3);
    pipeline.admin().sell(offer.skuId(), offer.policy(), offer.limit(), offer.stock());

    String order = buy(offer, 41, 2, 202).text("orderId");

    assertThat(buy(offer, 41, 2, 202).text("orderId")).as("order of the repeat").isEqualTo(order);
    refused(offer, 41, 1, "above-the-limit", "QUOTA_EXCEEDED");
    refused(offer, 42, 2, "above-the-stock", "TOO_FEW_LEFT");
    eventually().until(() -> pipeline.shop().order(41, order).text("status"), "CONFIRMED"::equals);
    assertThat(buy(offer, 41, 2, 202).text("orderId")).as("repeat when stored").isEqualTo(order);
    SaleAtRest sale =
        eventually().until(() -> pipeline.sales().read(offer), read -> read.inPrivateQueues() == 0);
    Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases));
    judged(sale, 2);
  }

  @Tag("proof")
  @Test
  void decidesAStrongSaleInMySql() throws SQLException {
    SaleOffer offer = new SaleOffer(8_202, PurchasePolicy.LIMITED, 2, 3).strong();
    pipeline.admin().sellStrong(offer.skuId(), offer.policy(), offer.limit(), offer.stock());
    eventually() // the gateway reads strong sales from MySQL, in intervals
        .until(() -> pipeline.shop().page(offer.skuId()).json().path("onSale").asBoolean());

    Answer confirmed = buy(offer, 51, 2, 201);

    assertThat(confirmed.text("status")).as("%s", confirmed).isEqualTo("CONFIRMED");
    assertThat(buy(offer, 51, 2, 201).text("orderId")).isEqualTo(confirmed.text("orderId"));
    refused(offer, 51, 1, "above-the-limit", "QUOTA_EXCEEDED");
    refused(offer, 52, 2, "above-the-stock", "TOO_FEW_LEFT");
    SaleAtRest sale = pipeline.sales().read(offer);
    Guarantee.strong().forEach(guarantee -> guarantee.judge(sale, purchases));
    judged(sale, 2);
  }

  /**
   * RabbitMQ 4.3 cancels a consumer that holds deliveries beyond consumer_timeout; older ones close
   * its channel. A queue with a single active consumer whose consumers were all cancelled delivers
   * again when their connections have ended (rabbitmq-server #17317).
   */
  @Tag("proof")
  @Test
  void storesWhatAConsumerHeldWhenRabbitMqCancelledIt() throws Exception {
    SaleOffer offer = new SaleOffer(8_203, PurchasePolicy.LIMITED, 2, 3);
    pipeline.admin().sell(offer.skuId(), offer.policy(), offer.limit(), offer.stock());
    consumerTimeout(1_000);
    vhost.closeConnections("consumers get another time-out");
    String before = Files.readString(pipeline.log(Service.CONSUMER)); // also of earlier runs
    String order;
    mysql.freeze();
    try {
      order = buy(offer, 61, 2, 202).text("orderId");
      eventually()
          .until(
              () -> Files.readString(pipeline.log(Service.CONSUMER)),
              log ->
                  log.substring(before.length())
                      .contains("The broker has cancelled the consumer of "));
    } finally {
      consumerTimeout(1_800_000);
      mysql.thaw();
    }
    eventually().until(() -> pipeline.shop().order(61, order).text("status"), "CONFIRMED"::equals);
    SaleAtRest sale =
        eventually().until(() -> pipeline.sales().read(offer), read -> read.inPrivateQueues() == 0);
    Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases));
    judged(sale, 2);
  }

  /** Applies to consumers that begin from now on. */
  private static void consumerTimeout(int timeoutMs) {
    rabbit.eval("application:set_env(rabbit, consumer_timeout, " + timeoutMs + ").");
  }

  private void judged(SaleAtRest sale, long units) {
    new LedgerBalances(pipeline.admin()).judge(sale, purchases);
    assertThat(sale.ownedUnits()).isEqualTo(units);
    assertThat(sale.mysqlStock()).isEqualTo(3 - units);
  }

  private Answer buy(SaleOffer offer, long user, int quantity, int status) {
    String key = "order-of-" + user;
    purchases.attempt(offer.skuId(), user, key, quantity);
    Answer answer = pipeline.shop().buy(user, offer.skuId(), quantity, key);
    assertThat(answer.status()).as("%s", answer).isEqualTo(status);
    purchases.accepted(offer.skuId(), user, key, answer.text("orderId"));
    return answer;
  }

  private void refused(SaleOffer offer, long user, int quantity, String key, String code) {
    long sentAtMs = System.currentTimeMillis();
    purchases.attempt(offer.skuId(), user, key, quantity);
    Answer answer = pipeline.shop().buy(user, offer.skuId(), quantity, key);
    assertThat(answer.code()).as("%s", answer).isEqualTo(code);
    purchases.refused(offer.skuId(), user, key, code, sentAtMs, System.currentTimeMillis());
  }
}
