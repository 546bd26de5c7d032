package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.ConsumerProcess;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;

/**
 * The settings of every Redis server count, also of those that serve nothing yet. All services have
 * the users that are shipped, and at the Sentinel the rights that configuration.md names.
 */
@Tag("proof")
@ChildProcessesOnly
class UnsafeNodesIT {

  private static final String PRODUCT = GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 100);
  private static final long SKU = 1_800;
  private static final int PARTITIONS = 16;

  /** Gateways whose heartbeats say so: more than half of them begin a fallback. */
  private static final String UNUSABLE =
      "SELECT COUNT(*) FROM gateway_node WHERE redis_usable = FALSE";

  private final List<AutoCloseable> opened = new ArrayList<>();
  private MySqlDatabase mysql;
  private ConsumerProcess consumer;

  @BeforeEach
  void createDatabase() {
    mysql = TestServers.mysql().newDatabase();
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
  }

  @Test
  void sellsFromAnUnsafeReplicaThatWasPromotedUnlessThatIsNeverAllowed() {
    RedisReplicaSet redis =
        closeLater(RedisReplicaSet.start("appendonly yes", "appendfsync always"));
    redis.nodes().forEach(node -> createUsers(address(node)));
    HostAndPort primary = address(redis.primary());
    List<HostAndPort> replicas = redis.replicas().stream().map(UnsafeNodesIT::address).toList();
    Map<String, String> settings = settings(redis);
    startConsumer(settings);
    TestGateway lenient = startGateway(settings, "false");
    TestGateway strict = startGateway(settings, "never");
    for (TestGateway gateway : List.of(lenient, strict)) {
      eventually().until(() -> gateway.bean(VerifiedServers.class).allVerified());
    }
    lenient.putOnSale(SKU, PRODUCT);

    replicas.forEach(replica -> set(replica, "appendfsync", "everysec"));

    GatewayAnswer refused = preheat(lenient, SKU + 1);
    assertThat(refused.code()).as(refused.toString()).isEqualTo("UNSAFE_REDIS");
    for (HostAndPort replica : replicas) {
      assertThat(refused.text("detail"))
          .contains("replica " + replica + ": appendfsync is everysec");
      eventually().until(() -> dangers(lenient, "replica", replica) == 1);
    }
    assertThat(dangers(lenient, "primary", primary)).isZero();
    assertThat(lenient.adminGet("/api/v1/health").text("status")).isEqualTo("DEGRADED");
    assertThat(strict.buy(1, SKU, 1, "key-before").status()).isEqualTo(202);
    redis.awaitReplicated();

    HostAndPort promoted = address(redis.failOver());

    eventually().until(() -> lenient.buy(2, SKU, 1, "key-after").status() == 202);
    eventually().until(() -> dangers(strict, "primary", promoted) == 1);
    eventually().until(() -> value(strict, "seckill.redis.node.up", primary) == 0);
    eventually().until(() -> !strict.bean(VerifiedServers.class).allVerified());
    GatewayAnswer held = strict.buy(3, SKU, 1, "key-held");
    assertThat(held.code()).as(held.toString()).isEqualTo("ADMISSION_UNAVAILABLE");
    eventually()
        .until(
            () -> strict.adminGet("/api/v1/health").toString(),
            health ->
                health.contains("not sold from while it may forget orders")
                    && health.contains("primary " + promoted + ": appendfsync is everysec"));
    eventually().until(() -> mysql.number(UNUSABLE) == 1);

    set(promoted, "appendfsync", "always");

    eventually().until(() -> strict.buy(3, SKU, 1, "key-held").status() == 202);
    eventually().until(() -> mysql.number(UNUSABLE) == 0);
  }

  @Test
  void sellsFromTheOtherNodesOfAClusterWhileOneIsUnsafeAndNeverAllowed() {
    RedisCluster cluster = closeLater(RedisCluster.start("appendonly yes", "appendfsync always"));
    cluster.nodes().forEach(node -> createUsers(HostAndPort.from(node)));
    Map<String, String> settings =
        Map.of("mode", "cluster", "nodes", String.join(",", cluster.nodes()));
    startConsumer(settings);
    TestGateway lenient = startGateway(settings, "false");
    eventually().until(() -> lenient.bean(VerifiedServers.class).allVerified());
    LongStream.range(SKU, SKU + PARTITIONS).forEach(sku -> lenient.putOnSale(sku, PRODUCT));
    setAll(cluster, "everysec", "allkeys-lru");
    String all = preheat(lenient, SKU + PARTITIONS).text("detail");
    for (String node : cluster.nodes()) {
      assertThat(all)
          .contains("primary " + node + ": appendfsync is everysec")
          .contains("primary " + node + ": maxmemory-policy is allkeys-lru");
    }
    setAll(cluster, "always", "noeviction");
    HostAndPort second = HostAndPort.from(cluster.nodes().get(1));

    set(second, "maxmemory-policy", "allkeys-lru");

    GatewayAnswer refused = preheat(lenient, SKU + PARTITIONS);
    assertThat(refused.code()).as(refused.toString()).isEqualTo("UNSAFE_REDIS");
    assertThat(refused.text("detail"))
        .contains("primary " + second + ": maxmemory-policy is allkeys-lru");
    eventually().until(() -> dangers(lenient, "primary", second) == 1);
    TestGateway strict = startGateway(settings, "never");
    for (long sku = SKU; sku < SKU + PARTITIONS; sku++) {
      long each = sku;
      boolean unsafe = cluster.primaryOf(RedisKeys.sku(sku)).equals(cluster.node(1));
      eventually().until(() -> buy(strict, each).status() == (unsafe ? 503 : 202));
      assertThat(buy(lenient, sku).status()).isEqualTo(202);
    }
    List<Integer> held =
        IntStream.range(0, PARTITIONS)
            .filter(p -> cluster.primaryOf(RedisKeys.outbox(p)).equals(cluster.node(1)))
            .boxed()
            .toList();
    GatewayAnswer health = strict.adminGet("/api/v1/health").expect(200);
    assertThat(health.text("status")).isEqualTo("DEGRADED");
    assertThat(health.json().at("/components/admission/reason").asString())
        .isEqualTo("Redis is not sold from while it may forget orders: partitions " + held + ".");

    set(second, "maxmemory-policy", "noeviction");

    eventually().until(() -> strict.bean(VerifiedServers.class).allVerified());
  }

  private <T extends AutoCloseable> T closeLater(T resource) {
    opened.add(resource);
    return resource;
  }

  private static HostAndPort address(RedisServer node) {
    return new HostAndPort(node.host(), node.port());
  }

  private static void createUsers(HostAndPort server) {
    try (UnifiedJedis redis = RedisDatabase.open("redis://" + server)) {
      ShippedUsers.inRedis(redis, "gateway");
      ShippedUsers.inRedis(redis, "consumer");
    }
  }

  private static Map<String, String> settings(RedisReplicaSet redis) {
    List<String> sentinels =
        redis.sentinelsAs(
            "watcher",
            "secret",
            "-@all",
            "+ping",
            "+client|setname",
            "+sentinel|get-master-addr-by-name",
            "+sentinel|replicas",
            "+subscribe",
            "&+switch-master");
    return Map.of("mode", "sentinel", "nodes", String.join(",", sentinels), "master", redis.name());
  }

  private void startConsumer(Map<String, String> settings) {
    Map<String, String> environment = new HashMap<>();
    settings.forEach(
        (name, value) -> environment.put("SECKILL_REDIS_" + name.toUpperCase(Locale.ROOT), value));
    environment.put("SECKILL_PREHEAT_ALLOWUNSAFEREDIS", "false");
    consumer =
        closeLater(
            ConsumerProcess.start(
                url("consumer"), TestServers.rabbit().newVhost(), mysql, environment));
  }

  private TestGateway startGateway(Map<String, String> settings, String allowUnsafeRedis) {
    Stream<String> redis =
        settings.entrySet().stream()
            .map(one -> "seckill.redis." + one.getKey() + "=" + one.getValue());
    return closeLater(
        TestGateway.start(
            new RedisDatabase("127.0.0.1", 1, 0),
            mysql,
            consumer.url(),
            Stream.concat(
                    redis,
                    Stream.of(
                        "seckill.redis.url=" + url("gateway"),
                        "seckill.preheat.allow-unsafe-redis=" + allowUnsafeRedis))
                .toArray(String[]::new)));
  }

  /** No server has this address: Sentinel, or the cluster, names the servers. */
  private static String url(String user) {
    return "redis://" + user + ":" + ShippedUsers.PASSWORD + "@127.0.0.1:1";
  }

  private static void set(HostAndPort server, String setting, String value) {
    try (Jedis redis = new Jedis(server)) {
      redis.configSet(setting, value);
    }
  }

  private static void setAll(RedisCluster cluster, String appendfsync, String maxmemoryPolicy) {
    for (String node : cluster.nodes()) {
      set(HostAndPort.from(node), "appendfsync", appendfsync);
      set(HostAndPort.from(node), "maxmemory-policy", maxmemoryPolicy);
    }
  }

  private static GatewayAnswer preheat(TestGateway gateway, long sku) {
    gateway.operate("PUT", GatewayStage.admin(sku), PRODUCT);
    return gateway.operate("POST", GatewayStage.admin(sku) + "/preheat", null);
  }

  private static GatewayAnswer buy(TestGateway gateway, long sku) {
    return gateway.buy(1, sku, 1, "key-of-user-1");
  }

  private static double dangers(TestGateway gateway, String role, HostAndPort node) {
    return value(gateway, "seckill.redis.misconfigured", node, "kind", "danger", "role", role);
  }

  /** The value of a gauge with the label of this server; -1 when there is none. */
  private static double value(
      TestGateway gateway, String name, HostAndPort node, String... moreTags) {
    Gauge gauge =
        gateway
            .bean(MeterRegistry.class)
            .find(name)
            .tag("node", node.toString())
            .tags(moreTags)
            .gauge();
    return gauge == null ? -1 : gauge.value();
  }
}
