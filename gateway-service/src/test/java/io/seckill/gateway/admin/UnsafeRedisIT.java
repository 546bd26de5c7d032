package io.seckill.gateway.admin;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.ConsumerProcess;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.UnifiedJedis;

/**
 * No sale starts on a Redis that may lose its orders or has no memory left for the sale; a setting
 * that only costs memory is reported.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
class UnsafeRedisIT {

  private static final AtomicLong SKU = new AtomicLong(1_000);

  private static final RedisServer server = RedisServer.start();
  private static final RedisDatabase database = server.newDatabase();
  private static final MySqlDatabase mysql = TestServers.mysql().newDatabase();
  private static final UnifiedJedis redis = database.open();
  private static final ConsumerProcess consumer =
      ConsumerProcess.start(
          database.url(),
          TestServers.rabbit().newVhost(),
          mysql,
          Map.of("SECKILL_PREHEAT_ALLOWUNSAFEREDIS", "false"));
  private static final TestGateway gateway = TestGateway.start(database, mysql, consumer.url());

  @AfterAll
  static void stop() {
    gateway.close();
    consumer.close();
    redis.close();
    server.close();
  }

  @BeforeEach
  void makeSafe() {
    redis.configSet("appendonly", "yes");
    redis.configSet("appendfsync", "always");
    redis.configSet("maxmemory-policy", "noeviction");
    redis.configSet("hash-max-listpack-value", "128");
  }

  @ParameterizedTest
  @CsvSource({
    "maxmemory-policy, allkeys-lru",
    "maxmemory-policy, volatile-ttl",
    "appendonly, no",
    "appendfsync, everysec",
    "appendfsync, no"
  })
  void refusesToPreheatAndChangesNothing(String setting, String value) {
    long sku = product();
    redis.configSet(setting, value);

    GatewayAnswer refused = act(sku, "preheat");

    assertThat(refused.status()).as(refused.toString()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("UNSAFE_REDIS");
    assertThat(refused.text("detail")).contains(setting + " is " + value);
    assertThat(gateway.adminGet(GatewayStage.admin(sku)).text("state")).isEqualTo("NEW");
    makeSafe();
    eventually().until(() -> act(sku, "preheat").status() == 200);
  }

  @Test
  void refusesToOpenAndLetsASaleUnderWayGoOn() {
    long underWay = product();
    long preheated = product();
    for (long sku : new long[] {underWay, preheated}) {
      assertThat(act(sku, "preheat").status()).isEqualTo(200);
    }
    assertThat(act(underWay, "open").status()).isEqualTo(200);

    redis.configSet("appendonly", "no");

    assertThat(act(preheated, "open").code()).isEqualTo("UNSAFE_REDIS");
    assertThat(gateway.buy(1, underWay, 1, "key-under-way").status()).isEqualTo(202);
    assertThat(act(underWay, "pause").status()).isEqualTo(200);
    assertThat(act(underWay, "resume").status()).isEqualTo(200);
  }

  @Test
  void tellsHealthAndMetricsAndStaysReady() {
    redis.configSet("maxmemory-policy", "allkeys-lru");

    // Another test may have made Redis unsafe in another way, which the gateway still reports.
    eventually()
        .until(
            () -> gateway.adminGet("/api/v1/health").toString(),
            health -> health.contains("maxmemory-policy is allkeys-lru"));
    assertThat(gateway.adminGet("/api/v1/health").status()).isEqualTo(200);
    eventually().until(() -> misconfigured(gateway, "danger") == 1);
    assertThat(gateway.gauge("seckill.redis.node.up")).isEqualTo(1);
    assertThat(gateway.gauge("seckill.redis.memory.used")).isGreaterThan(100_000);
    assertThat(gateway.gauge("seckill.redis.memory.max")).isZero();
    assertThat(gateway.gauge("seckill.redis.aof.failed")).isZero();
    assertThat(gateway.gauge("seckill.redis.replicas")).isZero();
    assertThat(gateway.gauge("seckill.redis.replicas.missing")).isZero();
    GatewayAnswer readiness = gateway.send(gateway.admin("/actuator/health/readiness").GET());
    assertThat(readiness.status()).isEqualTo(200);
    assertThat(readiness.text("status")).isEqualTo("DEGRADED");

    makeSafe();
    eventually().until(() -> misconfigured(gateway, "danger") == 0);
    eventually()
        .until(
            () -> gateway.adminGet("/api/v1/health").toString(),
            health -> !health.contains("maxmemory-policy"));
  }

  @Test
  void reportsThatTooFewReplicasAreDemandedForItsPromise() {
    try (TestGateway promising =
        TestGateway.start(
            database,
            mysql,
            consumer.url(),
            "seckill.admission.durable-in=replicas",
            "seckill.admission.replicas=2")) {
      eventually()
          .until(
              () -> promising.adminGet("/api/v1/health").toString(),
              health ->
                  health.contains("min-replicas-to-write is 0, it must be at least 2")
                      && health.contains("\"durableIn\":\"REPLICAS\""));
    }
  }

  @Test
  void sellsWhenMoreMemoryThanNeededIsUsed() {
    redis.configSet("hash-max-listpack-value", "64");
    long sku = product();

    assertThat(act(sku, "preheat").status()).isEqualTo(200);
    assertThat(act(sku, "open").status()).isEqualTo(200);
    eventually().until(() -> misconfigured(gateway, "cost") == 1);
    eventually().until(() -> misconfigured(gateway, "danger") == 0);
  }

  /**
   * facts.md 6 during a preheat: a half-loaded sale sells nothing, and repeating the preheat is
   * enough.
   */
  @Test
  void sellsNothingWhenRedisBecomesFullWhileASaleIsLoaded() throws SQLException {
    long sku = product();
    storeOrders(sku, 5_000);
    long used = Long.parseLong(redis.info("memory").replaceAll("(?s).*used_memory:(\\d+).*", "$1"));
    redis.configSet("maxmemory", Long.toString(used + 300_000)); // room for a part of the orders
    try {
      assertThat(act(sku, "preheat").status()).isEqualTo(503);
      assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("PREHEATING");
      assertThat(act(sku, "open").code()).isEqualTo("NOT_PREHEATED");
      assertThat(gateway.buy(1, sku, 1, "key-half-loaded").status()).isEqualTo(503);
    } finally {
      redis.configSet("maxmemory", "0");
    }

    assertThat(act(sku, "preheat").status()).isEqualTo(200);
    assertThat(act(sku, "open").status()).isEqualTo(200);
    eventually().until(() -> gateway.buy(1, sku, 1, "key-half-loaded").status() == 202);
    eventually("a repeat gets the first answer of an order stored earlier")
        .until(() -> gateway.buy(101, sku, 1, "stored-number-1").status() == 202);
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("99");
  }

  /** Stores confirmed orders of an earlier epoch, each of a different user. */
  private static void storeOrders(long sku, int orders) throws SQLException {
    try (Connection connection = mysql.connect();
        PreparedStatement insert =
            connection.prepareStatement(
                """
                INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents,
                    request_id, status, epoch, seq, admitted_at, created_at, updated_at)
                VALUES (?, ?, ?, 1, 1999, ?, 'CONFIRMED', 0, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(6),
                    UTC_TIMESTAMP(6))
                """)) {
      connection.setAutoCommit(false);
      for (int n = 1; n <= orders; n++) {
        OrderId id = OrderId.of(1_790_000_000_000L + n, Partition.ofSku(sku), 200, 0);
        insert.setLong(1, id.value());
        insert.setLong(2, 100 + n);
        insert.setLong(3, sku);
        insert.setString(4, "stored-number-" + n);
        insert.setLong(5, n);
        insert.addBatch();
      }
      insert.executeBatch();
      connection.createStatement().execute(OrderTotalSql.count(sku));
      connection.commit();
    }
  }

  private static long product() {
    long sku = SKU.incrementAndGet();
    GatewayAnswer made =
        gateway.operate(
            "PUT", GatewayStage.admin(sku), GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 100));
    assertThat(made.status()).as(made.toString()).isEqualTo(201);
    return sku;
  }

  private static GatewayAnswer act(long sku, String action) {
    return gateway.operate("POST", GatewayStage.admin(sku) + "/" + action, null);
  }

  private static double misconfigured(TestGateway of, String kind) {
    return of
        .bean(MeterRegistry.class)
        .find("seckill.redis.misconfigured")
        .tag("kind", kind)
        .gauges()
        .stream()
        .mapToDouble(Gauge::value)
        .sum();
  }
}
