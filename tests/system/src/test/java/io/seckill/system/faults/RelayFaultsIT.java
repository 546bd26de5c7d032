package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.resps.Tuple;

/** Faults of relays and of their links. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RelayFaultsIT {

  /** Bound on the time to adopt, with a lease of 6 s. */
  private static final Duration ADOPTED = Duration.ofSeconds(10);

  /** In bytes, of all lanes: a loss above it includes publishes or confirms. */
  private static final int MORE_THAN_HEARTBEATS = 500;

  private final FaultLab lab;

  RelayFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  /** No other relay can adopt the claimed orders; row 12 covers that case. */
  @Tag("proof")
  @Test
  @DisplayName("10: relay killed between claim and publish; its own restart adopts")
  void killedBetweenClaimAndPublish() {
    try (FaultRun run = lab.run("10 relay killed between claim and publish")) {
      ServiceInstance relay = lab.relay(1);
      lab.relay(2).links().redis().cut();
      relay.agent().arm(Failpoints.CLAIMED_NOT_PUBLISHED, PointAction.HALT, 5);
      run.begin(0);
      relay.awaitDeathAt(Failpoints.CLAIMED_NOT_PUBLISHED);
      Set<String> left = inHand(relay);
      assertThat(left).as("claimed orders that the dead relay left").isNotEmpty();
      run.fault("the only relay killed at " + Failpoints.CLAIMED_NOT_PUBLISHED);
      relay.restart();
      relay.awaitReady();
      Signals.await(
          "the restarted relay to adopt them",
          () -> adopted(relay) > 0 && Collections.disjoint(inHand(relay), left));
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("11: relay killed between confirm and remove; orders are published twice")
  void killedBetweenConfirmAndRemove() throws Exception {
    try (FaultRun run = lab.run("11 relay killed between confirm and remove");
        PublishedOrders published = new PublishedOrders(lab.servers())) {
      ServiceInstance relay = lab.relay(1);
      double duplicates = duplicates();
      relay.agent().arm(Failpoints.CONFIRMED_NOT_REMOVED, PointAction.HALT, 100);
      run.begin(0);
      relay.awaitDeathAt(Failpoints.CONFIRMED_NOT_REMOVED);
      Set<String> left = published.of(inHand(relay), true);
      assertThat(left).as("orders in the broker and in a private queue").isNotEmpty();
      run.fault("relay-1 killed at " + Failpoints.CONFIRMED_NOT_REMOVED);
      relay.restart();
      Signals.await("one of them to be published twice", () -> published.hasTwice(left));
      Signals.await("the consumer to count it", () -> duplicates() > duplicates);
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("12: relay never comes back; the other one adopts")
  void neverComesBack() {
    try (FaultRun run = lab.run("12 relay never comes back")) {
      ServiceInstance dead = lab.relay(1);
      double before = adopted(lab.relay(2));
      dead.agent().arm(Failpoints.CLAIMED_NOT_PUBLISHED, PointAction.HALT, 3);
      run.begin(0);
      dead.awaitDeathAt(Failpoints.CLAIMED_NOT_PUBLISHED);
      long killed = System.nanoTime();
      Signals.await( // relay-2 may adopt them before a slow test looks
          "claimed orders that the dead relay left",
          () -> !inHand(dead).isEmpty() || adopted(lab.relay(2)) > before);
      run.fault("relay-1 killed for good with claimed orders");
      Signals.await(
          "relay-2 to adopt them", () -> adopted(lab.relay(2)) > before && inHand(dead).isEmpty());
      run.took("another relay has adopted", killed, ADOPTED);
      run.load().lastCall();
      Signals.await("the private queues to be empty", () -> run.waitingInRedis() == 0);
      assertThat(dead.isAlive()).isFalse();
      run.judge();
    }
  }

  @Test
  @DisplayName("13: relay frozen beyond its lease, adopted, then awake")
  void frozenBeyondItsLease() throws Exception {
    try (FaultRun run = lab.run("13 relay frozen beyond its lease");
        PublishedOrders published = new PublishedOrders(lab.servers())) {
      ServiceInstance frozen = lab.relay(1);
      frozen.agent().arm(Failpoints.CONFIRMED_NOT_REMOVED, PointAction.PAUSE, 40);
      run.begin(0);
      frozen.agent().awaitReached(Failpoints.CONFIRMED_NOT_REMOVED, SOON);
      double before = adopted(lab.relay(2));
      double leasesFenced = leasesFenced(frozen);
      Set<String> claimed = freezeWithClaims(frozen, published);
      Signals.await(
          "relay-2 to adopt them all",
          () ->
              adopted(lab.relay(2)) > before
                  && inHand(frozen).isEmpty()
                  && published.of(claimed, false).isEmpty());
      run.fault("relay-1 frozen beyond its lease; relay-2 adopted what it had");
      frozen.thaw();
      frozen.agent().release(Failpoints.CLAIMED_NOT_PUBLISHED);
      Signals.await("a late publish of relay-1", () -> published.hasTwice(claimed));
      frozen.agent().release(Failpoints.CONFIRMED_NOT_REMOVED);
      run.fault("late publish and late removal of relay-1");
      run.judge();
      assertThat(leasesFenced(frozen)).as("fenced leases of relay-1").isGreaterThan(leasesFenced);
    }
  }

  /**
   * Armed last and, by a slow test, again, because a blocked lane hands its claims over after four
   * seconds. Returns the claimed orders that are not published.
   */
  private Set<String> freezeWithClaims(ServiceInstance relay, PublishedOrders published)
      throws Exception {
    while (true) {
      relay.agent().arm(Failpoints.CLAIMED_NOT_PUBLISHED, PointAction.PAUSE, 1);
      relay.agent().awaitReached(Failpoints.CLAIMED_NOT_PUBLISHED, SOON);
      relay.freeze();
      Set<String> claimed = published.of(inHand(relay), false);
      if (!claimed.isEmpty()) {
        return claimed;
      }
      relay.thaw();
      relay.agent().release(Failpoints.CLAIMED_NOT_PUBLISHED);
    }
  }

  /**
   * An expired lease allows others to adopt; none does, so the lane continues under the same lease.
   */
  @Tag("proof")
  @Test
  @DisplayName("13: the only relay frozen beyond its lease, then awake")
  void frozenBeyondItsLeaseAlone() {
    try (FaultRun run = lab.run("13 the only relay frozen beyond its lease")) {
      ServiceInstance frozen = lab.relay(1);
      lab.relay(2).links().redis().cut();
      run.begin(200);
      double leasesFenced = leasesFenced(frozen);
      frozen.freeze();
      Signals.await("its leases to run out", () -> leasesHaveRunOut(frozen));
      run.fault("the only relay frozen beyond its lease");
      frozen.thaw();
      double settled = settled(frozen);
      Signals.await("it to carry on", () -> settled(frozen) > settled + 50);
      assertThat(leasesFenced(frozen)).as("fenced leases").isEqualTo(leasesFenced);
      run.judge();
    }
  }

  private boolean leasesHaveRunOut(ServiceInstance relay) {
    long now = System.currentTimeMillis();
    return IntStream.range(0, Partition.COUNT)
        .mapToObj(partition -> lab.redis().zrangeWithScores(RedisKeys.lanes(partition), 0, -1))
        .flatMap(lanes -> lanes.stream().filter(lane -> isOf(relay, lane)))
        .allMatch(lane -> lane.getScore() < now);
  }

  private static boolean isOf(ServiceInstance relay, Tuple lane) {
    return lane.getElement().startsWith(relay.name() + ":");
  }

  @Tag("proof")
  @Test
  @DisplayName("16: confirms lost at one relay, publishes at the other, until the time-out")
  void confirmLost() throws Exception {
    try (FaultRun run = lab.run("16 confirms lost");
        PublishedOrders published = new PublishedOrders(lab.servers())) {
      run.begin(200);
      double duplicates = duplicates();
      TcpProxy confirms = lab.relay(1).links().rabbit();
      TcpProxy publishes = lab.relay(2).links().rabbit();
      long confirmBytes = confirms.droppedBytes() + MORE_THAN_HEARTBEATS;
      long publishBytes = publishes.droppedBytes() + MORE_THAN_HEARTBEATS;
      confirms.dropToClient(true);
      publishes.dropToServer(true);
      Signals.await("confirms to be lost", () -> confirms.droppedBytes() > confirmBytes);
      Signals.await("publishes to be lost", () -> publishes.droppedBytes() > publishBytes);
      awaitUnavailable(lab.relay(1));
      awaitUnavailable(lab.relay(2));
      Set<String> unconfirmed = published.of(inHand(lab.relay(1)), true);
      Set<String> unpublished = published.of(inHand(lab.relay(2)), false);
      assertThat(unconfirmed).as("orders in the broker without a confirm").isNotEmpty();
      assertThat(unpublished).as("orders that did not reach the broker").isNotEmpty();
      confirms.heal();
      run.fault("confirms to relay-1 lost, its links reset");
      publishes.heal();
      run.fault("publishes of relay-2 lost, its links reset");
      Signals.await("orders to be published twice", () -> published.hasTwice(unconfirmed));
      Signals.await("the consumer to count it", () -> duplicates() > duplicates);
      Signals.await(
          "what did not arrive to be published", () -> published.of(unpublished, false).isEmpty());
      run.judge();
    }
  }

  private static void awaitUnavailable(ServiceInstance relay) {
    Signals.await(
        "a lane of " + relay.name() + " without the broker",
        () -> relay.sum("seckill_relay_lane_state", "state=\"broker_unavailable\"") >= 1);
  }

  /** Orders in the private queues of a relay's lanes, including dead ones. */
  private Set<String> inHand(ServiceInstance relay) {
    return PrivateQueues.of(lab, relay.name());
  }

  private static double adopted(ServiceInstance relay) {
    return relay.sum("seckill_relay_adopted_total");
  }

  private static double settled(ServiceInstance relay) {
    return relay.sum("seckill_relay_settled_total");
  }

  private static double leasesFenced(ServiceInstance relay) {
    return relay.sum("seckill_relay_leases_fenced_total");
  }

  private double duplicates() {
    return ServiceInstance.sum(lab.consumers(), "seckill_consumer_duplicates_total");
  }
}
