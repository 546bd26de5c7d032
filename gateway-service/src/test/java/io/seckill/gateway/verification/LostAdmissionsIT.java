package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.OwnRedis;
import io.seckill.gateway.testing.TestSale;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Redis comes back without admissions that MySQL has not stored yet, or without those of a sale
 * that is not open.
 */
class LostAdmissionsIT extends OwnRedis {

  private static final long SKU = 1_002;
  private static final List<String> STOPPED = List.of("PAUSED", "CLOSED", "PREHEATED");

  @Test
  void sellsNothingAgainThatItAdmittedBeforeMySqlHeardOfIt() {
    TestSale sale = onSale();
    for (int user = 1; user <= 3; user++) {
      assertThat(buy(user).status()).isEqualTo(202);
    }

    comesBack(() -> sale.with("seq", 2).stock(8));

    eventually().until(this::isQuarantined);
    assertThat(buy(4).status()).isEqualTo(503);
    assertThat(sale.stock()).as("unit 3 is not promised twice").isEqualTo(8);

    database.sale(SKU, "OPEN", 2, 13);
    sale.with("epoch", 2).with("seq", 13);
    eventually().until(() -> buy(4).status() == 202);
  }

  @Test
  void sellsOnWhenNothingIsLost() {
    onSale();
    assertThat(buy(1).status()).isEqualTo(202);

    comesBack(() -> {});

    eventually().until(() -> buy(2).status() == 202);
    assertThat(quarantinedSkus()).isZero();
  }

  @Test
  void waitsWithoutAMemoryUntilMySqlHasWhatWasPublished() {
    TestSale sale = onSale();
    gateway.close();
    database.provenServer(sale.partition(), "0".repeat(40));
    gateway = newGateway();

    assertThat(buy(1).status()).isEqualTo(503);
    assertThat(sale.stock()).isEqualTo(10);

    database.provenServer(sale.partition(), TestSale.replicationId(redis));
    eventually().until(() -> buy(1).status() == 202);
  }

  @Test
  void leavesARepeatUnknownWhenRedisIsOlder() {
    List<TestSale> sales = boughtAndStopped();

    comesBack(
        () ->
            sales.forEach(
                sale -> {
                  sale.with("seq", 0).stock(10);
                  int bucket = RedisKeys.bucketOf(1, TestSale.BUCKETS);
                  redis.del(RedisKeys.bucket(sale.sku(), bucket));
                }));

    repeatsAreUnknown();
  }

  /** Order-consumer would not rebuild it for the alert. */
  @Tag("proof")
  @Test
  void reportsNoSaleWhoseClosingTimeHasPassed() {
    TestSale sale = onSale();
    database.closed(SKU, 1);

    server.wipe();
    comesBack(() -> {});

    eventually().until(this::isQuarantined);
    VerifiedServers servers = gateway.bean(VerifiedServers.class);
    String server = TestSale.replicationId(redis);
    eventually().until(() -> servers.provesAbsence(sale.partition(), server));
    assertThat(quarantinedSkus()).isZero();
  }

  /** A sale in each state, from which user 1 has bought before. */
  private List<TestSale> boughtAndStopped() {
    List<TestSale> sales = new ArrayList<>();
    for (int i = 0; i < STOPPED.size(); i++) {
      long sku = SKU + i;
      TestSale sale = onSale(sku);
      assertThat(gateway.buy(1, sku, 1, "key-0001").status()).isEqualTo(202);
      sale.with("state", STOPPED.get(i));
      database.sale(sku, STOPPED.get(i), 1, 0);
      sales.add(sale);
    }
    return sales;
  }

  private void repeatsAreUnknown() {
    for (long sku = SKU; sku < SKU + STOPPED.size(); sku++) {
      long each = sku;
      eventually().until(() -> gateway.bean(VerifiedServers.class).isQuarantined(each));
      assertThat(gateway.buy(1, sku, 1, "key-0001").status()).isEqualTo(503);
    }
  }

  private TestSale onSale() {
    return onSale(SKU);
  }

  private TestSale onSale(long sku) {
    TestSale sale = TestSale.open(redis, sku, PurchasePolicy.UNLIMITED, 0, 10);
    database.sale(sku, "OPEN", 1, 0);
    awaitMark(sku);
    return sale;
  }

  /** Restarts Redis and applies the change before the gateway can connect again. */
  private void comesBack(Runnable change) {
    link.cut();
    restart();
    change.run();
    link.heal();
  }

  private GatewayAnswer buy(long user) {
    return gateway.buy(user, SKU, 1, "key-0001");
  }

  private boolean isQuarantined() {
    return gateway.bean(VerifiedServers.class).isQuarantined(SKU);
  }

  private double quarantinedSkus() {
    return gateway.gauge("seckill.quarantined.skus");
  }
}
