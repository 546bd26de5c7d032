package io.seckill.consumer.runtime;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.LongStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Ports;
import io.seckill.testing.QueueDepth;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RowLock;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** A consumer that starts before the servers it needs are available. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ConsumerStartIT {

  private static final long SKU = 17;
  private static final String READINESS = "/actuator/health/readiness";

  @AutoClose private static final MySqlServer mysql = MySqlServer.start();

  private final int port = Ports.free();
  private final InternalApi api = new InternalApi("http://127.0.0.1:" + port, TestConsumer.TOKEN);

  @Test
  void comesUpWithoutMySqlAndTakesOrdersOnceItIsThere() throws Exception {
    TestConsumer before = sale(mysql.newDatabase());
    before.close();
    mysql.stop();
    List<OrderMessage> orders = orders(50);
    try (OrderFlood flood = new OrderFlood(before.vhost())) {
      flood.publish(orders);
    }

    FutureTask<TestConsumer> start = inBackground(before);

    awaitWaiting();
    assertThat(api.get("/actuator/health").status()).isEqualTo(503);
    assertThat(api.get("/actuator/health/liveness").status()).isEqualTo(200);
    Answer refused = api.get("/internal/v1/skus/" + SKU);
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.code()).isEqualTo("UNAVAILABLE");
    QueueDepth queue = before.vhost().queueDepth(queue());
    assertThat(queue.ready()).isEqualTo(50);
    assertThat(queue.unacked()).isZero();

    mysql.restart();

    try (TestConsumer consumer = start.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
      StoredInvariants ledger = new StoredInvariants(consumer.sql());
      ledger.awaitOrders(SKU, 50);
      ledger.check();
      assertThat(api.get(READINESS).status()).isEqualTo(200);
    }
  }

  @Test
  void runsWithoutThePasswordOfTheOwnerOnceAnotherHasMigrated() throws SQLException {
    MySqlDatabase database = mysql.newDatabase();
    Map<String, String> withoutOwner =
        Map.of(
            "seckill.migration.enabled", "false",
            "spring.flyway.user", "reads",
            "spring.flyway.password", "reads");
    try (Connection root = mysql.rootConnection();
        Statement statement = root.createStatement()) {
      statement.execute("CREATE USER 'reads'@'%' IDENTIFIED BY 'reads'");
      statement.execute("GRANT SELECT ON " + database.name() + ".* TO 'reads'@'%'");
    }
    assertThatThrownBy(() -> TestConsumer.start(database, withoutOwner))
        .hasStackTraceContaining("Validate failed");

    migrate(database);

    try (TestConsumer consumer = TestConsumer.start(database, withoutOwner)) {
      new Sales(consumer).open(SKU, "LIMITED", 2, 10);
    }
  }

  /** Of a comparison, for example: its transaction has read the table, and goes on. */
  @Test
  void aMigrationBehindALongTransactionHoldsUpNobody() throws Exception {
    MySqlDatabase database = mysql.newDatabase();
    FutureTask<Boolean> migration = migrateFromBeforeTheLastChangeOfOrders(database);
    try (RowLock comparison = database.lock("SELECT COUNT(*) FROM orders")) {
      new Thread(migration, "migration").start();
      eventually().until(() -> waitsFor("orders", database));

      for (int order = 1; order <= 20; order++) {
        long start = System.nanoTime();
        database.rows("SELECT order_id FROM orders WHERE order_id = ? FOR UPDATE", row -> 1, order);
        // The migration waits for 1 s; behind one that went on, the URL's 10 s would pass.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
      }
      assertThat(migration.isDone()).isFalse();
      comparison.release();
    }

    assertThat(migration.get(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(database.number("SELECT COUNT(*) FROM flyway_schema_history WHERE NOT success"))
        .isZero();
    assertThat(hasOrdersOfAUser(database)).isTrue();
  }

  private static FutureTask<Boolean> migrateFromBeforeTheLastChangeOfOrders(
      MySqlDatabase database) {
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.username(), database.password())
        .target("22")
        .load()
        .migrate();
    assertThat(hasOrdersOfAUser(database)).isFalse();
    return new FutureTask<>(
        () -> {
          migrate(database);
          return true;
        });
  }

  private static boolean hasOrdersOfAUser(MySqlDatabase database) {
    return database.number(
            "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()"
                + " AND index_name = 'ix_orders_user'")
        > 0;
  }

  private static void migrate(MySqlDatabase database) {
    MigrationApplication.run(
        "--spring.datasource.url=" + database.jdbcUrl(),
        "--spring.flyway.url=" + database.jdbcUrl(),
        "--spring.flyway.user=" + database.username(),
        "--spring.flyway.password=" + database.password());
  }

  /** Whether a statement that changes the table waits for transactions that have read it. */
  private static boolean waitsFor(String table, MySqlDatabase database) {
    return database.number(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()"
                + " AND state LIKE 'Waiting for table metadata lock' AND info LIKE ?",
            "%ALTER TABLE " + table + "%")
        > 0;
  }

  @Test
  void comesUpWithoutRedisAndRabbitMqAndUsesThemOnceTheyAreThere() throws Exception {
    try (TcpProxy toRedis = TcpProxy.to(TestServers.redis());
        TcpProxy toBroker = TcpProxy.to(TestServers.rabbit());
        TestConsumer before = sale(TestServers.mysql().newDatabase());
        OrderFlood flood = new OrderFlood(before.vhost())) {
      toRedis.cut();
      toBroker.cut();
      List<OrderMessage> orders = orders(10);
      AdmissionFixture admissions = new AdmissionFixture(before.redis());
      admissions.admit(orders);
      flood.publish(orders);

      try (TestConsumer consumer =
          before.another(
              Map.of(
                  "server.port", Integer.toString(port),
                  "seckill.redis.url", before.redisDatabase().via(toRedis).url(),
                  "seckill.broker.urls", before.vhost().via(toBroker).url()))) {
        assertThat(api.get(READINESS).status()).isEqualTo(200);

        toRedis.heal();
        toBroker.heal();

        new StoredInvariants(consumer.sql()).awaitOrders(SKU, 10);
        eventually()
            .untilAsserted(
                () -> assertThat(orders).allMatch(o -> "C".equals(admissions.result(o))));
      }
    }
  }

  @ChildProcessesOnly
  @Test
  void comesUpWithoutASentinelAndUsesRedisOnceOneAnswers() throws IOException {
    try (RedisReplicaSet servers = RedisReplicaSet.start();
        UnifiedJedis redis = servers.primary().open();
        TcpProxy link = TcpProxy.to(servers.sentinelServers().get(0))) {
      usesRedisOnceANodeAnswers("sentinel", link, redis);
    }
  }

  @ChildProcessesOnly
  @Test
  void comesUpWithoutANodeOfAClusterAndUsesItOnceOneAnswers() throws IOException {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = RedisClusterClient.create(HostAndPort.from(cluster.nodes().get(0)));
        TcpProxy link = TcpProxy.to(cluster.node(0))) {
      usesRedisOnceANodeAnswers("cluster", link, redis);
    }
  }

  private void usesRedisOnceANodeAnswers(String mode, TcpProxy link, UnifiedJedis redis) {
    TestConsumer before = sale(TestServers.mysql().newDatabase());
    redis.hset(RedisKeys.sku(SKU), before.redis().hgetAll(RedisKeys.sku(SKU)));
    redis.set(RedisKeys.stock(SKU), before.redis().get(RedisKeys.stock(SKU)));
    before.close(); // else its sweeps return units to its own Redis
    AdmissionFixture admissions = new AdmissionFixture(redis);
    List<OrderMessage> tooMany =
        rangeClosed(1, 20).mapToObj(i -> OrderFlood.order(SKU, LIMITED, 7, 1)).toList();
    admissions.admit(tooMany);
    link.cut();
    try (TestConsumer consumer =
            before.another(
                Map.of(
                    "server.port",
                    Integer.toString(port),
                    "seckill.redis.url",
                    "redis://127.0.0.1:1", // no server: the nodes name them
                    "seckill.redis.mode",
                    mode,
                    "seckill.redis.nodes",
                    "127.0.0.1:" + link.port(),
                    "seckill.redis.master",
                    "seckill"));
        OrderFlood flood = new OrderFlood(consumer.vhost())) {
      flood.publish(tooMany);
      new StoredInvariants(consumer.sql()).awaitOrders(SKU, 20);
      assertThat(api.get(READINESS).status()).isEqualTo(200);
      assertThat(admissions.stock(SKU)).isEqualTo(980);

      link.heal();

      eventually()
          .untilAsserted(
              () -> {
                consumer.sweep("compensationSweeper");
                assertThat(admissions.stock(SKU)).isEqualTo(995);
              });
    }
  }

  /** A consumer that has opened the sale and takes no orders. */
  private static TestConsumer sale(MySqlDatabase database) {
    TestConsumer consumer = TestConsumer.start(database, Map.of("seckill.intake.enabled", "false"));
    new Sales(consumer).open(SKU, "LIMITED", 5, 1_000);
    return consumer;
  }

  private static List<OrderMessage> orders(int count) {
    return rangeClosed(1, count).mapToObj(user -> OrderFlood.order(SKU, LIMITED, user, 1)).toList();
  }

  private static String queue() {
    return BrokerTopology.orderQueue(
        Integer.parseInt(BrokerTopology.routingKey(Partition.ofSku(SKU))));
  }

  private FutureTask<TestConsumer> inBackground(TestConsumer before) {
    FutureTask<TestConsumer> start = new FutureTask<>(() -> another(before));
    new Thread(start, "start").start();
    return start;
  }

  private TestConsumer another(TestConsumer before) {
    return before.another(Map.of("server.port", Integer.toString(port)));
  }

  private void awaitWaiting() {
    eventually()
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              Answer readiness = api.get(READINESS);
              assertThat(readiness.status()).isEqualTo(503);
              assertThat(readiness.body().path("components").has("database")).isTrue();
            });
  }
}
