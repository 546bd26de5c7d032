package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import io.seckill.testing.ShippedUsers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

/** Each lane works on the node that serves its partition's slot; leases span all nodes. */
@Tag("proof")
@ChildProcessesOnly
class LanesClusterIT {

  private RedisCluster cluster;
  private RabbitVhost rabbit;
  private TestBroker broker;
  private TestOutbox outbox;

  @BeforeEach
  void start(RabbitServer rabbitServer) throws Exception {
    cluster = RedisCluster.start("appendonly yes", "appendfsync always");
    cluster.nodes().forEach(LanesClusterIT::createUser);
    rabbit = rabbitServer.newVhost();
    broker = TestBroker.consuming(rabbit.url());
    outbox = new TestOutbox(settings(""));
  }

  /** Users are not replicated, and end with the server. */
  private static void createUser(String node) {
    RedisSettings settings = RedisSettings.single("redis://" + node);
    try (UnifiedJedis admin = RedisClients.open(settings, "test")) {
      ShippedUsers.inRedis(admin, "relay");
    }
  }

  @AfterEach
  void stop() {
    outbox.close();
    broker.close();
    cluster.close();
  }

  @Test
  void carriesOrdersOfEveryNodeAndCountsThem() {
    long[] skus = TestOutbox.skusOfEveryPartition();
    for (long sku : skus) {
      outbox.preheat(sku);
    }
    List<String> admitted = outbox.admit(1_600, skus);
    try (TestRelay relay = startRelay()) {
      everythingArrives(admitted);
      eventually().until(() -> relay.count("settled") == admitted.size());
      assertThat(broker.duplicates()).isZero();
      for (long sku : skus) {
        assertThat(outbox.counter(sku, "publishedOrders")).as("sku " + sku).isEqualTo(100);
      }
      eventually("the next look at the outbox")
          .until(() -> relay.relayLanes().backlog(0).outbox() == 0);
    }
  }

  @Test
  void findsUnregisteredPrivateQueuesOnEveryNode() {
    long[] skus = TestOutbox.skusOfEveryPartition();
    for (long sku : skus) {
      outbox.claimLate("gone:0:0123456789abcdef", sku);
    }
    try (TestRelay relay = startRelay()) {
      eventually().until(() -> broker.seen() == skus.length);
      eventually().until(() -> outbox.inPrivateQueues() == 0);
      assertThat(relay.count("adopted")).isEqualTo(skus.length);
    }
  }

  /** The registry is there, and the private queue is not: it looks as if it were empty. */
  @Test
  void forgetsNoPrivateQueueThatHasNotArrivedWhileItsSlotMoves() {
    String dead = "gone:0:0123456789abcdef";
    String lanes = RedisKeys.lanes(0);
    outbox.redis().zadd(lanes, 1, dead); // its lease has ended long ago
    outbox.claimLate(dead, TestOutbox.skusOfEveryPartition()[0]);
    RedisServer from = cluster.primaryOf(lanes);
    RedisServer to = cluster.node(from.equals(cluster.node(0)) ? 1 : 0);
    cluster.beginMove(List.of(lanes), to);
    try (TestRelay relay = startRelay()) {
      eventually("a round without the outbox, which has not arrived either")
          .until(() -> relay.relayLanes().backlog(0).outbox() == -1);
      assertThat(outbox.redis().zscore(lanes, dead)).isNotNull();

      cluster.moveSlot(lanes, to);

      eventually().until(() -> broker.seen() == 1);
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  @Test
  void adoptsOnTheOtherNodesWhileOneIsDown() {
    long[] skus = TestOutbox.skusOfEveryPartition();
    try (TestRelay relay = startRelay()) {
      List<String> admitted = outbox.admit(160, skus);
      everythingArrives(admitted);
      RedisServer gone = cluster.node(0);
      gone.kill();

      long[] reachable =
          Arrays.stream(skus)
              .filter(sku -> cluster.primaryOf(RedisKeys.sku(sku)) != gone)
              .toArray();
      for (long sku : reachable) {
        String lane = "gone:0:0123456789abcdef";
        outbox.redis().zadd(RedisKeys.lanes(Partition.ofSku(sku)), 1, lane); // its lease has ended
        admitted.add(outbox.claimLate(lane, sku));
      }
      eventually().until(() -> broker.seen() == admitted.size());
      assertThat(relay.count("adopted")).isEqualTo(reachable.length);

      cluster.heal();
      createUser(cluster.nodes().get(0));
      outbox.close();
      outbox = new TestOutbox(settings("")); // a pipeline over old connections loses commands
      admitted.addAll(outbox.admit(160, skus));
      everythingArrives(admitted);
    }
  }

  /** With the time-out and the leases of a relay as it is shipped. */
  @Test
  void keepsTheLeasesOfTheOtherNodesWhileOneIsFrozen() {
    RedisServer frozen = cluster.primaryOf(RedisKeys.lanes(0));
    int[] others =
        IntStream.range(0, Partition.COUNT)
            .filter(p -> cluster.primaryOf(RedisKeys.lanes(p)) != frozen)
            .toArray();
    Tuning shipped =
        Tuning.PATIENT.withConfirmTimeout(Duration.ofSeconds(10)).withLease(LeaseSettings.DEFAULT);
    try (TestRelay relay = startRelay(Duration.ofSeconds(2), shipped)) {
      eventually().until(() -> relay.lanes().stream().allMatch(this::isRunning));

      frozen.freeze();

      eventually() // at the end of the first round
          .until(() -> relay.relayLanes().backlog(0).outbox() == -1);
      long now = System.currentTimeMillis(); // as on every node
      for (int partition : others) {
        assertThat(outbox.redis().zrangeWithScores(RedisKeys.lanes(partition), 0, -1))
            .as("leases of partition " + partition)
            .allMatch(lease -> lease.getScore() > now);
      }
      cluster.heal();
    }
  }

  private TestRelay startRelay() {
    return startRelay(null, Tuning.PATIENT);
  }

  private TestRelay startRelay(@Nullable Duration socketTimeout, Tuning tuning) {
    return TestRelay.start(
        settings("relay:" + ShippedUsers.PASSWORD + "@", socketTimeout),
        TestRelay.broker(rabbit.url(), null),
        tuning);
  }

  private boolean isRunning(LaneStatus lane) {
    return lane.state() == LaneState.RUNNING;
  }

  private RedisSettings settings(String user) {
    return settings(user, null);
  }

  private RedisSettings settings(String user, @Nullable Duration socketTimeout) {
    return new RedisSettings(
        Mode.CLUSTER,
        "redis://" + user + "127.0.0.1:1", // no server: the nodes report which node serves a slot
        cluster.nodes(),
        null,
        null,
        socketTimeout,
        null);
  }

  private void everythingArrives(List<String> admitted) {
    eventually().until(() -> broker.seen() == admitted.size());
    assertThat(broker.deliveries()).containsOnlyKeys(admitted);
    eventually().until(() -> outbox.waiting() == 0 && outbox.inPrivateQueues() == 0);
  }
}
