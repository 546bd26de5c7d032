package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DirectLaneIT extends LaneFixture {

  private static final int PARTITION = 0;
  private static final int WINDOW = 512;

  DirectLaneIT() {
    outbox.preheat(SKU);
  }

  @Test
  void publishesInOrderWhatIsDeliveredAndRemovesItAfterItsConfirm() {
    try (TestDirectLanes lanes = startPatient(rabbit, WINDOW)) {
      lanes.awaitOpen(PARTITION);
      List<String> admitted = new ArrayList<>();
      while (admitted.size() < 2_000) {
        admitted.addAll(lanes.admit(outbox, 20, SKU)); // none while the window is full
      }

      eventually().until(() -> broker.seen() == 2_000 && outbox.inPrivateQueues() == 0);
      assertThat(broker.orders())
          .extracting(order -> order.getProperties().getMessageId())
          .containsExactlyElementsOf(admitted);
      assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(2_000);
      assertThat(lanes.count("republished")).isZero();
    }
  }

  @Test
  void takesNothingFromTheOutboxAndAdoptsNothing() {
    outbox.redis().zadd(RedisKeys.lanes(PARTITION), 1, "ghost:0:aa");
    outbox.claimLate("ghost:0:aa", SKU);
    outbox.claimLate("orphan:0:bb", SKU);
    outbox.admit(5, SKU);
    try (TestDirectLanes lanes = start(rabbit, WINDOW)) {
      lanes.awaitOpen(PARTITION);
      await("several renewals and polls")
          .during(Duration.ofSeconds(2))
          .atMost(SOON)
          .until(() -> outbox.waiting() == 5 && outbox.inPrivateQueues() == 2);
      assertThat(broker.seen()).isZero();
    }
  }

  @Test
  void readsItsPrivateQueueAndTakesANewLeaseWhenAnOutcomeIsUnknown() {
    try (TestDirectLanes lanes = startPatient(rabbit, WINDOW)) {
      String token = lanes.awaitOpen(PARTITION);
      Reservation unanswered = lanes.mailboxes().get(PARTITION).reserve(3);
      String pushed = outbox.claimLate(token, SKU);
      unanswered.unknown();

      eventually().until(() -> broker.seen() == 1 && outbox.inPrivateQueues() == 0);
      assertThat(broker.deliveries()).containsOnlyKeys(pushed);
      assertThat(lanes.awaitOpen(PARTITION)).isNotEqualTo(token);
      assertThat(outbox.redis().zscore(RedisKeys.lanes(PARTITION), token))
          .as("a late call must find that this lease is over")
          .isNegative();
      assertThat(broker.duplicates()).isZero();
    }
  }

  /** As after a failover to a server that lacks the removal of what was confirmed. */
  @Test
  void findsOrdersInItsPrivateQueueWhileItHasNothingToDo() {
    try (TestDirectLanes lanes = startPatient(rabbit, WINDOW)) {
      String left = outbox.claimLate(lanes.awaitOpen(PARTITION), SKU);

      eventually().until(() -> broker.seen() == 1 && outbox.inPrivateQueues() == 0);
      assertThat(broker.deliveries()).containsOnlyKeys(left);
    }
  }

  @Test
  void leavesWhatALateCallPushesToRelays() {
    try (TestDirectLanes lanes = start(rabbit, WINDOW)) {
      String token = lanes.awaitOpen(PARTITION);
      lanes.mailboxes().get(PARTITION).reserve(1).unknown();
      eventually().until(() -> !lanes.awaitOpen(PARTITION).equals(token));
      String late = outbox.claimLate(token, SKU);

      try (TestRelay relay = start()) {
        eventually().until(() -> broker.seen() == 1);
        assertThat(broker.deliveries()).containsOnlyKeys(late);
        assertThat(relay.count("adopted")).isEqualTo(1);
      }
    }
  }

  /** It may not declare the binding again; a relay does. */
  @Test
  void leavesWhatItsBrokerReturnsToRelays() throws Exception {
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT); // a new link would declare it
        TestDirectLanes lanes = start(rabbit, WINDOW)) {
      awaitAll(relay, LaneState.RUNNING);
      lanes.awaitOpen(PARTITION);
      broker
          .channel()
          .queueUnbind(
              BrokerTopology.orderQueue(0),
              BrokerTopology.ORDERS_EXCHANGE,
              BrokerTopology.routingKey(PARTITION));
      List<String> admitted = lanes.admit(outbox, 3, SKU);
      assertThat(admitted).hasSize(3);

      everythingArrives(admitted);
      assertThat(relay.count("adopted")).isEqualTo(3);
      publishesAgain(lanes, relay, admitted);
    }
  }

  /** Until then the broker closes its channel at every publish. */
  @Test
  void publishesAgainSoonAfterItMayWrite() {
    String url = ShippedUsers.inRabbit(rabbitServer, rabbit, "gateway");
    String user = "gateway-" + rabbit.name();
    rabbit.setPermissions(user, "", "", "");
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT);
        TestDirectLanes lanes = TestDirectLanes.start(redis.url(), url, WINDOW)) {
      awaitAll(relay, LaneState.RUNNING);
      lanes.awaitOpen(PARTITION);
      List<String> admitted = lanes.admit(outbox, 3, SKU);
      assertThat(admitted).hasSize(3);
      everythingArrives(admitted);
      assertThat(relay.count("adopted")).isEqualTo(3);

      rabbit.setPermissions(user, "", ".*", "");
      publishesAgain(lanes, relay, admitted);
    }
  }

  /** By itself, and soon after the failure is over. */
  private void publishesAgain(TestDirectLanes lanes, TestRelay relay, List<String> before) {
    LaneMailbox mailbox = lanes.mailboxes().get(PARTITION);
    await("open again").atMost(Duration.ofSeconds(30)).until(() -> mailbox.reserve(0) != null);
    List<String> all = new ArrayList<>(before);
    all.addAll(lanes.admit(outbox, 3, SKU));
    assertThat(all).hasSize(before.size() + 3);

    everythingArrives(all);
    assertThat(relay.count("adopted")).isEqualTo(before.size());
    eventually("it takes orders of two calls").until(() -> takesTwoCalls(mailbox));
  }

  private static boolean takesTwoCalls(LaneMailbox mailbox) {
    Reservation first = mailbox.reserve(1);
    Reservation second = mailbox.reserve(1);
    Stream.of(first, second)
        .filter(Objects::nonNull)
        .forEach(reservation -> reservation.deliver(List.of()));
    return second != null;
  }

  @Test
  void takesNothingWhileItsWindowIsFullOfUnconfirmedOrders() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestDirectLanes lanes = startPatient(rabbit.via(proxy), 10)) {
      lanes.awaitOpen(PARTITION);
      proxy.dropToServer(true);
      List<String> admitted = lanes.admit(outbox, 10, SKU);
      eventually().until(() -> lanes.lane(PARTITION).inFlight() == 10);
      assertThat(outbox.inPrivateQueues()).as("unconfirmed, so kept").isEqualTo(10);
      assertThat(lanes.mailboxes().get(PARTITION).reserve(1)).isNull();

      proxy.heal(); // resets the connection that lost bytes
      eventually().until(() -> broker.seen() == 10 && outbox.inPrivateQueues() == 0);
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      lanes.awaitOpen(PARTITION);
    }
  }

  @Tag("proof")
  @Test
  void takesNothingWithoutABrokerAndOpensAgainWithANewLease() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestDirectLanes lanes = start(rabbit.via(proxy), WINDOW)) {
      String before = lanes.awaitOpen(PARTITION);
      proxy.cut();
      eventually().until(() -> lanes.lane(PARTITION).state() == LaneState.BROKER_UNAVAILABLE);
      assertThat(lanes.admit(outbox, 1, SKU)).isEmpty();

      proxy.heal();
      assertThat(lanes.awaitOpen(PARTITION)).isNotEqualTo(before);
      List<String> admitted = lanes.admit(outbox, 1, SKU);
      eventually().until(() -> broker.seen() == 1);
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
    }
  }

  @Test
  void takesANewLeaseAfterARelayHasFencedIt() {
    try (TestDirectLanes lanes = startPatient(rabbit, WINDOW)) {
      String token = lanes.awaitOpen(PARTITION);
      List<String> admitted =
          lanes.admit(
              outbox, 5, SKU, () -> outbox.redis().zadd(RedisKeys.lanes(PARTITION), -1, token));
      eventually().until(() -> !lanes.awaitOpen(PARTITION).equals(token));
      assertThat(lanes.count("leases.fenced")).isEqualTo(1);
      assertThat(outbox.inPrivateQueues()).as("they are the relays' now").isEqualTo(5);

      try (TestRelay relay = start()) {
        eventually().until(() -> relay.count("adopted") == 5);
        eventually().until(() -> outbox.inPrivateQueues() == 0);
        eventually()
            .untilAsserted(() -> assertThat(broker.deliveries()).containsOnlyKeys(admitted));
      }
    }
  }

  @Test
  void takesNewLeasesWithoutAnyOrderAfterRedisHasLostItsData() {
    try (TestDirectLanes lanes = start(rabbit, WINDOW)) {
      String token = lanes.awaitOpen(PARTITION);
      for (int partition = 0; partition < 16; partition++) {
        outbox.redis().del(RedisKeys.lanes(partition));
      }

      eventually().until(() -> !lanes.awaitOpen(PARTITION).equals(token));
      eventually()
          .until(
              () ->
                  IntStream.range(0, 16)
                      .allMatch(p -> outbox.redis().zcount(RedisKeys.lanes(p), 1, 1e15) == 1));
    }
  }

  @Test
  void removesWhatWasConfirmedAndEndsItsLeasesAtAStop() {
    TestDirectLanes lanes = startPatient(rabbit, WINDOW);
    lanes.awaitOpen(PARTITION);
    List<String> admitted = lanes.admit(outbox, 200, SKU);
    eventually().until(() -> broker.seen() == 200);
    lanes.close();

    assertThat(outbox.inPrivateQueues()).isZero();
    assertThat(broker.deliveries()).containsOnlyKeys(admitted);
    for (int partition = 0; partition < 16; partition++) {
      assertThat(outbox.redis().zrangeWithScores(RedisKeys.lanes(partition), 0, -1))
          .allMatch(lane -> lane.getScore() < 0);
    }
    assertThat(lanes.mailboxes()).allMatch(mailbox -> mailbox.reserve(1) == null);
  }

  private TestDirectLanes start(RabbitVhost vhost, int window) {
    return TestDirectLanes.start(redis.url(), vhost.url(), window);
  }

  private TestDirectLanes startPatient(RabbitVhost vhost, int window) {
    return TestDirectLanes.startPatient(redis.url(), vhost.url(), window);
  }
}
