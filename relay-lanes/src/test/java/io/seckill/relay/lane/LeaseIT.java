package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.resps.Tuple;

/** Lanes die, freeze or resume: every order is delivered, and fenced lanes do no harm. */
class LeaseIT extends LaneFixture {

  private static final String GHOST = "ghost:0:00112233";

  @Test
  void adoptsThePrivateQueueOfARelayThatIsGone() {
    register(GHOST, System.currentTimeMillis() - 1);
    String order = outbox.claimLate(GHOST, SKU);
    try (TestRelay relay = start()) {
      everythingArrives(List.of(order));
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  @Test
  void adoptsBeforeItTakesWhatIsNew() {
    outbox.admit(2_000, SKU);
    register(GHOST, System.currentTimeMillis() - 1);
    String order = outbox.claimLate(GHOST, SKU);
    TestRelay.Tuning narrow = TestRelay.Tuning.DEFAULT.withMaxUnconfirmed(4);
    try (TestRelay relay = start(narrow)) {
      eventually().until(() -> broker.deliveries().containsKey(order));
      List<String> arrived =
          broker.orders().stream().map(one -> one.getProperties().getMessageId()).toList();
      assertThat(arrived.indexOf(order)).as("place among 2,001").isLessThan(1_000);
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  @Test
  void leavesTheQueueOfALeaseInForceAlone() {
    register(GHOST, System.currentTimeMillis() + 25_000); // a lease lasts 30 s
    outbox.claimLate(GHOST, SKU);
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT)) {
      eventually().until(() -> relay.lane(0).state() == LaneState.RUNNING);
      await()
          .during(Duration.ofSeconds(1)) // five searches for dead queues
          .atMost(SOON)
          .until(() -> outbox.inPrivateQueues() == 1 && broker.seen() == 0);
    }
  }

  /** As after Redis's clock was set back by an hour. */
  @Test
  void adoptsAQueueWhoseLeaseEndsLaterThanALeaseLasts() {
    register(GHOST, System.currentTimeMillis() + 3_600_000);
    String order = outbox.claimLate(GHOST, SKU);
    try (TestRelay relay = start()) {
      everythingArrives(List.of(order));
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  /**
   * Row 9 of docs/proof.md: the partition with the foreign key is reported as stuck, the others
   * work.
   */
  @Tag("proof")
  @Test
  void adoptsInTheOtherPartitionsWhenARegistryIsOfAnotherType() {
    outbox.redis().set(RedisKeys.lanes(3), "foreign");
    outbox.redis().zadd(RedisKeys.lanes(7), 1, GHOST); // its lease has ended
    String registered = outbox.claimLate(GHOST, SKU + 7);
    String orphan = outbox.claimLate("gone:0:0123456789abcdef", SKU + 9);
    outbox.claimLate("gone:0:0123456789abcdef", SKU + 3);
    try (TestRelay relay = start()) {
      eventually()
          .untilAsserted(
              () -> assertThat(broker.deliveries()).containsOnlyKeys(registered, orphan));
      long adopted = System.nanoTime();
      eventually("leases are renewed")
          .until(() -> relay.relayLanes().sinceRenewed().toNanos() < System.nanoTime() - adopted);
      eventually().until(() -> relay.lane(3).state() == LaneState.REDIS_UNAVAILABLE);
      assertThat(relay.lane(3).reason()).contains("WRONGTYPE");
      assertThat(relay.relayLanes().backlog(3).isWork()).isTrue();

      outbox.redis().del(RedisKeys.lanes(3));
      eventually().until(() -> broker.seen() == 3 && outbox.inPrivateQueues() == 0);
    }
  }

  @Test
  void adoptsALateClaimIntoADeadQueue() {
    try (TestRelay relay = start()) {
      register(GHOST, -System.currentTimeMillis());
      String order = outbox.claimLate(GHOST, SKU);
      everythingArrives(List.of(order));
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  @Test
  void findsALateClaimIntoAQueueThatIsNotRegistered() { // nor on the first page of the keys
    try (AbstractPipeline others = outbox.redis().pipelined()) {
      for (int i = 0; i < 10_000; i++) {
        others.set("other:" + i, "");
      }
    }
    try (TestRelay relay = start()) {
      String order = outbox.claimLate(GHOST, SKU);
      everythingArrives(List.of(order));
      assertThat(relay.count("adopted")).isEqualTo(1);
    }
  }

  /** It works: it asks for orders. */
  @Tag("proof")
  @Test
  void aLaneWithoutOrdersKeepsItsLease() {
    Duration poll = RelayLane.POLL_INTERVAL;
    LeaseSettings settings =
        new LeaseSettings(
            Duration.ofSeconds(30), Duration.ofMillis(200), poll.multipliedBy(2), SOON);
    try (TestRelay relay = start(patient(settings))) {
      eventually().until(() -> relay.lane(0).state() == LaneState.RUNNING);
      Tuple begun = outbox.redis().zrangeWithScores(RedisKeys.lanes(0), 0, -1).get(0);
      double later = begun.getScore() + poll.multipliedBy(3).toMillis();

      eventually("it to be renewed three polls later")
          .until(() -> outbox.redis().zscore(RedisKeys.lanes(0), begun.getElement()) > later);
    }
  }

  /** It works: it waits for confirms. */
  @Test
  void aLaneWhoseBrokerIsSilentKeepsItsLease() throws Exception {
    Duration releaseAfter = Duration.ofMillis(500);
    LeaseSettings settings =
        new LeaseSettings(Duration.ofSeconds(30), Duration.ofMillis(100), releaseAfter, SOON);
    outbox.admit(1, SKU);
    try (TcpProxy toRabbit = TcpProxy.to(rabbitServer);
        TestRelay relay =
            TestRelay.start(redis.url(), rabbit.via(toRabbit).url(), patient(settings))) {
      eventually().until(() -> relay.count("settled") == 1);
      toRabbit.dropToClient(true);
      outbox.admit(1, SKU);
      eventually().until(() -> relay.lane(0).inFlight() == 1);
      Tuple lease = outbox.redis().zrangeWithScores(RedisKeys.lanes(0), 0, -1).get(0);
      double later = lease.getScore() + releaseAfter.multipliedBy(2).toMillis();

      eventually()
          .until(() -> outbox.redis().zscore(RedisKeys.lanes(0), lease.getElement()) > later);
      toRabbit.cut(); // a stop waits for no confirm then
    }
  }

  /** Late answers are for orders that another lane may have adopted. */
  @Test
  void aLaneWithoutItsLeaseReplacesItsLink() throws Exception {
    try (TcpProxy toRabbit = TcpProxy.to(rabbitServer);
        TestRelay relay =
            TestRelay.start(redis.url(), rabbit.via(toRabbit).url(), TestRelay.Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      long links = toRabbit.acceptedConnections();

      outbox.redis().del(RedisKeys.lanes(0));

      eventually().until(() -> relay.count("leases.fenced") >= 1);
      eventually().until(() -> toRabbit.acceptedConnections() >= links + 1);
      eventually("a new lease").until(() -> relay.lane(0).state() == LaneState.RUNNING);
      everythingArrives(outbox.admit(10, SKU));
    }
  }

  @Tag("proof")
  @Test
  void handsItsQueueOverWhenItsBrokerIsUnavailableForLong() throws Exception {
    TestRelay.Tuning tuning = patient(TestRelay.Tuning.DEFAULT.lease());
    try (TcpProxy toRabbit = TcpProxy.to(rabbitServer);
        TestRelay alone = TestRelay.start(redis.url(), rabbit.via(toRabbit).url(), tuning)) {
      eventually().until(() -> alone.lane(0).state() == LaneState.RUNNING);
      toRabbit.dropToServer(true);
      List<String> admitted = outbox.admit(10, SKU);
      eventually().until(() -> alone.lane(0).inFlight() == 10);
      toRabbit.cut();

      try (TestRelay other = start()) {
        everythingArrives(admitted);
        assertThat(other.count("adopted")).isEqualTo(10);
      }
    }
  }

  /** It connects again and again, and the broker closes its channel at every publish. */
  @Test
  void handsItsQueueOverWhenItMayNotPublish() {
    String url = ShippedUsers.inRabbit(rabbitServer, rabbit, "relay");
    String user = "relay-" + rabbit.name();
    rabbit.setPermissions(
        user,
        ".*",
        "^seckill\\.(dead|orders\\..*)$", // it may declare
        ".*");
    TestRelay.Tuning tuning = patient(TestRelay.Tuning.DEFAULT.lease());
    List<String> admitted = outbox.admit(10, SKU);
    try (TestRelay refused = TestRelay.start(redis.url(), url, tuning)) {
      eventually("it has connected, and taken them").until(() -> outbox.inPrivateQueues() == 10);
      eventually().until(() -> refused.lane(0).state() == LaneState.BROKER_UNAVAILABLE);

      try (TestRelay other = start()) {
        everythingArrives(admitted);
        assertThat(other.count("adopted")).isEqualTo(10);
      }

      rabbit.setPermissions(user, ".*", ".*", ".*");
      outbox.admit(10, SKU);
      await("it works soon after it may publish")
          .atMost(Duration.ofSeconds(30))
          .until(() -> broker.seen() == 20);
    }
  }

  /** Its lease is renewed over another connection, which works. */
  @Test
  void handsItsQueueOverWhenItCannotReadIt() {
    String user = "relay-" + rabbit.name();
    outbox
        .redis()
        .executeCommand(
            new CommandArguments(Command.ACL)
                .addObjects("SETUSER", user, "reset", "on", ">secret", "~*", "&*", "+@all")
                .add("-lrange"));
    List<String> admitted = outbox.admit(1, SKU);
    try (TestRelay refused =
        TestRelay.start(redis.url(user, "secret"), rabbit.url(), TestRelay.Tuning.DEFAULT)) {
      eventually("claimed, and not published").until(() -> outbox.inPrivateQueues() == 1);
      eventually().until(() -> refused.lane(0).state() == LaneState.REDIS_UNAVAILABLE);

      try (TestRelay other = start()) {
        everythingArrives(admitted);
        assertThat(other.count("adopted")).isEqualTo(1);
      }
    }
  }

  private static TestRelay.Tuning patient(LeaseSettings settings) {
    return TestRelay.Tuning.PATIENT.withConfirmTimeout(SOON).withLease(settings);
  }

  private void register(String token, long score) {
    outbox.redis().zadd(RedisKeys.lanes(0), (double) score, token);
  }
}
