package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Redis comes back without admissions that MySQL has not stored yet, or without those of a sale
 * that is not open.
 */
@ExtendWith(TestServers.class)
class LostAdmissionsIT {

  private static final long SKU = 1_002;

  private RedisServer server;
  private TcpProxy link;
  private UnifiedJedis redis;
  private SeededDatabase database;
  private TestGateway gateway;

  @BeforeEach
  void start(MySqlServer mysql) throws IOException {
    server = RedisServer.start("appendonly yes", "appendfsync always");
    link = TcpProxy.to(server);
    redis = server.open();
    database = SeededDatabase.create(mysql);
    gateway = newGateway();
  }

  private TestGateway newGateway() {
    return database.gateway("redis://127.0.0.1:" + link.port());
  }

  @AfterEach
  void stop() {
    gateway.close();
    redis.close();
    link.close();
    server.close();
  }

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

    database.provenServer(sale.partition(), Calls.replicationId(redis));
    eventually().until(() -> buy(1).status() == 202);
  }

  @Test
  void startsAtOnceWithoutAMemoryOnAServerThatWasProven() {
    TestSale sale = onSale();
    gateway.close();
    database.provenServer(sale.partition(), Calls.replicationId(redis));
    gateway = newGateway();

    assertThat(buy(1).status()).isEqualTo(202);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "CLOSED", "PREHEATED"})
  void leavesARepeatUnknownWhenRedisIsEmpty(String state) {
    TestSale sale = onSale();
    assertThat(buy(1).status()).isEqualTo(202);
    stops(sale, state);

    server.wipe();
    comesBack(() -> {});

    eventually().until(() -> gateway.bean(VerifiedServers.class).allVerified() && isQuarantined());
    assertThat(buy(1).status()).isEqualTo(503);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "CLOSED", "PREHEATED"})
  void leavesARepeatUnknownWhenRedisIsOlder(String state) {
    TestSale sale = onSale();
    assertThat(buy(1).status()).isEqualTo(202);
    stops(sale, state);

    comesBack(
        () -> {
          sale.with("seq", 0).stock(10);
          redis.del(RedisKeys.bucket(SKU, RedisKeys.bucketOf(1, TestSale.BUCKETS)));
        });

    eventually().until(this::isQuarantined);
    assertThat(buy(1).status()).isEqualTo(503);
  }

  private TestSale onSale() {
    TestSale sale = TestSale.open(redis, SKU, PurchasePolicy.UNLIMITED, 0, 10);
    database.sale(SKU, "OPEN", 1, 0);
    return sale;
  }

  private void stops(TestSale sale, String state) {
    sale.with("state", state);
    database.sale(SKU, state, 1, 0);
  }

  /** Restarts Redis and applies the change before the gateway can connect again. */
  private void comesBack(Runnable change) {
    link.cut();
    server.restart();
    ((RedisClient) redis).getPool().clear();
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
