package io.seckill.gateway.admission;

import static io.seckill.gateway.testing.GatewayAnswer.available;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.testing.ConsumerProcess;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.Watching;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * A sale on a Redis Cluster, from preheat to compensation; every node holds some of the partitions.
 */
@Tag("proof")
@ChildProcessesOnly
class AdmissionClusterIT {

  private static final long FIRST_SKU = 1_600;
  private static final int PARTITIONS = 16;
  private static final String THREE_UNITS = GatewayStage.product(PurchasePolicy.LIMITED, 3, 3);
  private static final String PLENTY = GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 1_000_000);

  private static RedisCluster cluster;
  private static ConsumerProcess consumer;
  private static TestGateway gateway;

  @BeforeAll
  static void start() {
    cluster =
        RedisCluster.start(
            "appendonly yes",
            "appendfsync always",
            "user default on nopass allkeys allchannels allcommands -exists"); // as users.acl
    String nodes = String.join(",", cluster.nodes());
    RedisDatabase nobody = new RedisDatabase("127.0.0.1", 1, 0); // unused: nodes report the slots
    MySqlDatabase mysql = TestServers.mysql().newDatabase();
    consumer =
        ConsumerProcess.start(
            nobody.url(),
            TestServers.rabbit().newVhost(),
            mysql,
            Map.of(
                "SECKILL_REDIS_MODE",
                "cluster",
                "SECKILL_REDIS_NODES",
                nodes,
                "SECKILL_PREHEAT_ALLOWUNSAFEREDIS",
                "false"));
    gateway =
        TestGateway.start(
            nobody,
            mysql,
            consumer.url(),
            "seckill.redis.mode=cluster",
            "seckill.redis.nodes=" + nodes,
            "seckill.admission.sold-out-shield=5s", // long enough to be seen
            TestGateway.shippedTimes()[0],
            TestGateway.shippedTimes()[1]);
    eventually().until(() -> gateway.bean(VerifiedServers.class).allVerified());
  }

  @AfterAll
  static void stop() {
    gateway.close();
    consumer.close();
    cluster.close();
  }

  @Test
  void sellsAndTakesBackInEveryPartition() {
    skus().forEach(sku -> gateway.putOnSale(sku, THREE_UNITS));

    skus()
        .forEach(
            sku -> {
              String order = buy(1, sku, 2, "key-of-user-1").expect(202).text("orderId");
              assertThat(buy(1, sku, 2, "key-of-user-1").text("orderId")).isEqualTo(order);
              assertThat(buy(1, sku, 2, "key-two-user-1").code()).isEqualTo("QUOTA_EXCEEDED");
              assertThat(buy(2, sku, 2, "key-of-user-2").code()).isEqualTo("TOO_FEW_LEFT");
              assertThat(available(() -> gateway.get(1, "/api/v1/orders/" + order)).text("status"))
                  .isEqualTo("QUEUED");
            });
    eventually()
        .until(
            () -> gateway.adminGet("/admin/v1/lanes").json().path("outboxes").size(),
            outboxes -> outboxes == PARTITIONS);
    skus().forEach(AdmissionClusterIT::takeTheLastUnit);
    skus().forEach(AdmissionClusterIT::moreCome);
    skus().forEach(sku -> eventually().until(() -> buyWithoutKey(sku).status() == 202));
    skus().forEach(sku -> buy(2, sku, 2, "key-of-user-2").expect(202));
  }

  private static GatewayAnswer buy(long user, long sku, int quantity, String key) {
    return available(() -> gateway.buy(user, sku, quantity, key));
  }

  /** The sale is there, and the user's order is not: it would look as if there were none. */
  @Test
  void answersNothingFromASlotThatIsHalfMoved() {
    long sku = FIRST_SKU + 5L * PARTITIONS;
    int partition = Partition.ofSku(sku);
    gateway.putOnSale(sku, PLENTY);
    String order = buy(1, sku, 1, "key-of-user-1").expect(202).text("orderId");
    RedisServer from = cluster.primaryOf(RedisKeys.sku(sku));
    RedisServer to = cluster.node(from.equals(cluster.node(0)) ? 1 : 0);
    cluster.beginMove(
        List.of(
            RedisKeys.sku(sku),
            RedisKeys.stock(sku),
            RedisKeys.skus(partition),
            RedisKeys.outbox(partition),
            RedisKeys.workers(partition)),
        to);
    try {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(1); // time for many comparisons
      while (System.nanoTime() < until) {
        assertThat(gateway.buy(1, sku, 1, "key-of-user-1").status()).isEqualTo(503);
        assertThat(gateway.get(1, "/api/v1/orders/" + order).status()).isEqualTo(503);
        assertThat(gateway.get(1, "/api/v1/orders").status()).isEqualTo(503);
      }
    } finally {
      cluster.moveSlot(RedisKeys.sku(sku), to);
    }
    isKnownAgain(order, sku);
    cluster.moveSlot(RedisKeys.sku(sku), from);
    isKnownAgain(order, sku);
  }

  private static void isKnownAgain(String order, long sku) {
    assertThat(buy(1, sku, 1, "key-of-user-1").text("orderId")).isEqualTo(order);
    eventually().until(() -> gateway.get(1, "/api/v1/orders/" + order).status() == 200);
  }

  private static LongStream skus() {
    return LongStream.range(FIRST_SKU, FIRST_SKU + PARTITIONS);
  }

  private static void takeTheLastUnit(long sku) {
    buy(3, sku, 1, "key-of-user-3").expect(202);
    available(() -> buyWithoutKey(sku)).expect(409);
    assertThat(gateway.bean(SoldOutShield.class).covers(sku)).isTrue();
  }

  private static GatewayAnswer buyWithoutKey(long sku) {
    return gateway.call(4, "POST", "/api/v1/skus/" + sku + "/orders", "{\"quantity\":1}");
  }

  /** Adds units: order-consumer writes them to MySQL's row first, then to Redis. */
  private static void moreCome(long sku) {
    gateway
        .send(
            gateway
                .admin(GatewayStage.admin(sku) + "/stock")
                .header("Authorization", TestGateway.operator())
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", "change-" + sku)
                .POST(BodyPublishers.ofString("{\"delta\":5,\"reason\":\"more came\"}")))
        .expect(200);
  }

  @Test
  void answersWithoutTheNodeThatIsGoneAndAgainWithIt() {
    long sku = FIRST_SKU + PARTITIONS;
    gateway.putOnSale(sku, THREE_UNITS);
    cluster.node(0).kill();
    cluster.node(1).kill();
    cluster.node(2).kill();
    assertThat(gateway.buy(1, sku, 1, "key-while-gone").status()).isEqualTo(503);

    cluster.heal();

    eventually().until(() -> gateway.buy(1, sku, 1, "key-while-gone").status() == 202);
  }

  /** The node is frozen, not killed: each call to its partitions lasts until the time-out. */
  @Test
  void keepsAdmittingOnTheOtherNodesWhileOneIsFrozen() throws Exception {
    List<Long> all =
        skus()
            .map(sku -> sku + 2 * PARTITIONS)
            .peek(sku -> gateway.putOnSale(sku, PLENTY))
            .boxed()
            .toList();
    RedisServer node = cluster.primaryOf(RedisKeys.sku(all.get(0)));
    Map<Boolean, List<Long>> byReach =
        all.stream()
            .collect(
                Collectors.partitioningBy(sku -> cluster.primaryOf(RedisKeys.sku(sku)) != node));
    List<Long> reachable = byReach.get(true);
    List<Long> away = byReach.get(false);
    assertThat(away).hasSizeGreaterThan(3); // at least as many as admission threads

    node.freeze();
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService shoppers = Executors.newFixedThreadPool(away.size());
    try {
      away.forEach(sku -> shoppers.execute(() -> buyUntil(done, sku)));
      reachable.forEach(sku -> eventually().until(() -> buyWithoutKey(sku).status() == 202));
      long until = System.nanoTime() + WorkerLeases.DURATION.plusSeconds(4).toNanos();
      int bought = 0;
      int admitted = 0;
      while (System.nanoTime() < until) {
        for (long sku : reachable) {
          bought++;
          admitted += buyWithoutKey(sku).status() == 202 ? 1 : 0;
        }
      }
      assertThat(admitted).as("admitted of %d purchases", bought).isGreaterThan(bought * 9 / 10);
      assertThat(gateway.send(gateway.admin("/actuator/health/readiness").GET()).status())
          .isEqualTo(200);
      GatewayAnswer health = gateway.send(gateway.admin("/api/v1/health").GET());
      assertThat(health.status()).as(health.toString()).isEqualTo(200);
      assertThat(health.json().at("/components/redis/reason").stringValue())
          .startsWith("Redis does not answer for partitions [");
    } finally {
      done.set(true);
      shoppers.shutdown();
      node.thaw();
    }
    assertThat(shoppers.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    cluster.awaitAgreement();
    all.forEach(sku -> eventually().until(() -> buyWithoutKey(sku).status() == 202));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void listsEverySaleAndShowsThoseOfTheOtherNodesWhileOneIsAway(boolean frozen) {
    long sku = FIRST_SKU + (frozen ? 3L : 4L) * PARTITIONS;
    long other =
        LongStream.iterate(sku + 1, next -> next + 1)
            .filter(next -> !onOneNode(sku, next))
            .findFirst()
            .orElseThrow();
    gateway.putOnSale(sku, PLENTY);
    gateway.putOnSale(other, PLENTY);
    for (long one : List.of(sku, other)) {
      eventually("the gateway to have read that it is open").until(() -> isOnSale(one));
    }
    RedisServer node = cluster.primaryOf(RedisKeys.sku(sku));
    if (frozen) {
      node.freeze();
    } else {
      node.kill();
    }
    try {
      eventually("what was read before to be too old").until(() -> page(sku).status() == 503);

      eventually().until(() -> isOnSale(other));
      assertThat(listed()).contains(sku, other);
      if (!frozen) { // else its partitions take longer, one after the other, than operators wait
        eventually()
            .untilAsserted(
                () -> showsTheLanesOfTheOtherNodes(Partition.ofSku(sku), Partition.ofSku(other)));
      }
    } finally {
      cluster.heal();
    }
    eventually().until(() -> page(sku).status() == 200);
  }

  private static void showsTheLanesOfTheOtherNodes(int away, int there) throws Exception {
    JsonNode lanes = gateway.adminGet("/admin/v1/lanes").expect(200).json();
    List<Integer> outboxes = new ArrayList<>();
    lanes.path("outboxes").forEach(one -> outboxes.add(one.path("partition").intValue()));
    List<Integer> unavailable = new ArrayList<>();
    lanes.path("unavailable").forEach(one -> unavailable.add(one.intValue()));
    assertThat(outboxes).contains(there).doesNotContain(away);
    assertThat(unavailable).contains(away).doesNotContain(there);
    assertThat(outboxes.size() + unavailable.size()).isEqualTo(PARTITIONS);
    GatewayAnswer health = gateway.send(gateway.admin("/api/v1/health").GET());
    assertThat(health.json().at("/components/relay/reason").asString(""))
        .isEqualTo(
            "No relay's lane holds a lease for partitions %s. Unknown for partitions %s: Redis does"
                    .formatted(outboxes, unavailable)
                + " not answer for them.");
    try (Watching operator = Watching.of(gateway)) {
      assertThat(operator.await("redis DEGRADED").at("/lanes/unavailable").size())
          .isEqualTo(unavailable.size());
    }
  }

  private static boolean onOneNode(long sku, long other) {
    return cluster.primaryOf(RedisKeys.sku(sku)).equals(cluster.primaryOf(RedisKeys.sku(other)));
  }

  private static boolean isOnSale(long sku) {
    return page(sku).json().path("onSale").booleanValue();
  }

  private static GatewayAnswer page(long sku) {
    return gateway.send(gateway.shop("/api/v1/skus/" + sku));
  }

  /** The SKUs of all pages of the public list. */
  private static List<Long> listed() {
    List<Long> skus = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page =
          gateway.send(gateway.shop("/api/v1/skus?limit=50" + cursor)).expect(200).json();
      page.path("skus").forEach(one -> skus.add(one.path("skuId").longValue()));
      cursor = page.path("next").isNull() ? null : "&cursor=" + page.path("next").stringValue();
    }
    return skus;
  }

  private static void buyUntil(AtomicBoolean done, long sku) {
    while (!done.get()) {
      buyWithoutKey(sku);
    }
  }
}
