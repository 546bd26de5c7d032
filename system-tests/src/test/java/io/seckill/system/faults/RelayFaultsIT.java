package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.inside.PointAction;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of relays and of their links. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RelayFaultsIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String STATE = "seckill_relay_lane_state";

  private final FaultLab lab;

  RelayFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("10: relay killed between claim and publish")
  void killedBetweenClaimAndPublish() {
    haltsAt("10 relay killed between claim and publish", Points.CLAIMED_NOT_PUBLISHED, 5);
  }

  @Test
  @DisplayName("11: relay killed between confirm and remove")
  void killedBetweenConfirmAndRemove() {
    haltsAt("11 relay killed between confirm and remove", Points.CONFIRMED_NOT_REMOVED, 100);
  }

  private void haltsAt(String row, String point, int nth) {
    try (FaultRun run = lab.run(row)) {
      ServiceInstance relay = lab.relay(1);
      relay.agent().arm(point, PointAction.HALT, nth);
      run.begin(0);
      relay.awaitDeath();
      assertThat(relay.agent().hasReached(point)).isTrue();
      run.fault("relay-1 killed at " + point);
      run.judge();
    }
  }

  @Test
  @DisplayName("12: relay never comes back")
  void neverComesBack() {
    try (FaultRun run = lab.run("12 relay never comes back")) {
      ServiceInstance dead = lab.relay(1);
      dead.agent().arm(Points.CLAIMED_NOT_PUBLISHED, PointAction.PAUSE, 3);
      run.begin(0);
      dead.agent().awaitReached(Points.CLAIMED_NOT_PUBLISHED, LIMIT);
      double before = adopted(lab.relay(2));
      dead.kill();
      run.fault("relay-1 killed for good with claimed orders");
      Signals.await("relay-2 to adopt", () -> adopted(lab.relay(2)) > before);
      run.crowd().lastCall();
      Signals.await("the private queues to be empty", () -> run.waitingInRedis() == 0);
      assertThat(dead.isAlive()).isFalse();
      run.judge();
    }
  }

  @Test
  @DisplayName("13: relay frozen beyond its lease, then awake")
  void frozenBeyondItsLease() {
    try (FaultRun run = lab.run("13 relay frozen beyond its lease")) {
      ServiceInstance frozen = lab.relay(1);
      frozen.agent().arm(Points.CLAIMED_NOT_PUBLISHED, PointAction.PAUSE, 6);
      frozen.agent().arm(Points.CONFIRMED_NOT_REMOVED, PointAction.PAUSE, 40);
      run.begin(0);
      frozen.agent().awaitReached(Points.CLAIMED_NOT_PUBLISHED, LIMIT);
      frozen.agent().awaitReached(Points.CONFIRMED_NOT_REMOVED, LIMIT);
      double before = adopted(lab.relay(2));
      frozen.freeze();
      Signals.await("relay-2 to adopt", () -> adopted(lab.relay(2)) > before);
      run.fault("relay-1 frozen beyond its lease");
      frozen.thaw();
      frozen.agent().release(Points.CLAIMED_NOT_PUBLISHED);
      frozen.agent().release(Points.CONFIRMED_NOT_REMOVED);
      Signals.await(
          "relay-1 to find its lives over",
          () -> frozen.metrics().sum("seckill_relay_lives_lost_total") > 0);
      run.fault("late publish and late removal of relay-1");
      run.judge();
    }
  }

  @Test
  @DisplayName("14: claim reply lost")
  void claimReplyLost() {
    try (FaultRun run = lab.run("14 claim reply lost").begin(200)) {
      TcpProxy link = lab.relay(1).links().redis();
      long before = link.droppedBytes();
      link.dropToClient(true);
      Signals.await("replies to be lost", () -> link.droppedBytes() > before + 2_000);
      run.fault("replies of Redis to relay-1 lost");
      link.dropToClient(false);
      run.judge();
    }
  }

  @Test
  @DisplayName("14: black hole to Redis")
  void blackHoleToRedis() {
    try (FaultRun run = lab.run("14 black hole to Redis").begin(200)) {
      TcpProxy link = lab.relay(1).links().redis();
      long before = link.droppedBytes();
      link.dropToClient(true);
      link.dropToServer(true);
      Signals.await(
          "the blocking time-out to fire",
          () -> lab.relay(1).metrics().sum(STATE, "state=\"redis_trouble\"") >= 8);
      assertThat(link.droppedBytes()).isGreaterThan(before);
      run.fault("black hole between relay-1 and Redis until its time-outs fired");
      run.judge();
    }
  }

  @Test
  @DisplayName("15: broker link reset with confirms open")
  void brokerLinkResetWithConfirmsOpen() {
    try (FaultRun run = lab.run("15 broker link reset with confirms open").begin(200)) {
      for (ServiceInstance relay : lab.relays()) {
        TcpProxy link = relay.links().rabbit();
        long dropped = link.droppedBytes();
        double before = republished(relay);
        link.dropToClient(true);
        Signals.await(
            "confirms to be open",
            () ->
                link.droppedBytes() > dropped
                    && relay.metrics().sum("seckill_relay_in_flight") > 0);
        link.dropToClient(false); // which resets every link that has lost a confirm
        run.fault("broker links of " + relay.name() + " reset with confirms open");
        Signals.await(relay.name() + " to publish again", () -> republished(relay) > before);
      }
      run.judge();
    }
  }

  @Test
  @DisplayName("16: confirm lost")
  void confirmLost() {
    try (FaultRun run = lab.run("16 confirm lost").begin(200)) {
      ServiceInstance relay = lab.relay(1);
      TcpProxy link = relay.links().rabbit();
      double before = republished(relay);
      long dropped = link.droppedBytes();
      link.dropToClient(true);
      Signals.await(
          "the confirm time-out to fire",
          () -> relay.metrics().sum(STATE, "state=\"broker_trouble\"") > 0);
      assertThat(link.droppedBytes()).isGreaterThan(dropped);
      run.fault("confirms to relay-1 lost until its time-out fired");
      link.heal();
      Signals.await("relay-1 to publish again", () -> republished(relay) > before);
      run.judge();
    }
  }

  private static double adopted(ServiceInstance relay) {
    return relay.metrics().sum("seckill_relay_adopted_total");
  }

  private static double republished(ServiceInstance relay) {
    return relay.metrics().sum("seckill_relay_republished_total");
  }
}
