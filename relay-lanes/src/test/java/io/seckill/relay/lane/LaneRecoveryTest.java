package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.lane.UnsettledOrders.QueueState;
import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.Backoff;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** A lane's view and its metrics after each kind of failure; without servers. */
class LaneRecoveryTest {

  private static final OutboundOrder CONFIRMED = OutboundOrder.of(new byte[] {1}, 0);
  private static final OutboundOrder UNANSWERED = OutboundOrder.of(new byte[] {2}, 0);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RelayMeters meters = new RelayMeters(registry);
  private final LaneLease lease = new LaneLease("relay", 0, 0, Duration.ofSeconds(6));
  private final LaneStatus status = new LaneStatus("relay-0", 0);
  private final UnsettledOrders orders = new UnsettledOrders();
  private final Backoff backoff = new Backoff(Duration.ofDays(1), Duration.ofDays(1));
  private final LaneConnections connections =
      new LaneConnections(
          "relay-0",
          Duration.ofSeconds(1),
          RedisSettings.single("redis://127.0.0.1:1"),
          TestRelay.connector(TestRelay.broker("amqp://127.0.0.1:1", null), Tuning.DEFAULT, meters),
          lease);
  private final LaneRecovery recovery =
      new LaneRecovery(connections, lease, orders, status, backoff, meters);

  @BeforeEach
  void runWithOneConfirmedOrderAndOneUnanswered() {
    backoff.stop(); // so that no pause takes time
    status.progressed();
    orders.published(List.of(CONFIRMED, UNANSWERED));
    orders.confirmed().add(CONFIRMED);
    status.outstanding(2, 1);
  }

  @Test
  void changesNothingWithoutAFailure() throws Exception {
    recovery.attempt(() -> {});

    assertThat(status.state()).isEqualTo(LaneState.RUNNING);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
    assertThat(orders.count()).isEqualTo(2);
  }

  @Test
  void countsOnlyConfirmedOrdersAfterAFailureOfTheBroker() throws Exception {
    recovery.attempt(
        () -> {
          throw new BrokerFailureException("the link broke", null);
        });

    assertThat(status.state()).isEqualTo(LaneState.BROKER_UNAVAILABLE);
    assertThat(status.reason()).isEqualTo("the link broke");
    assertThat(orders.state()).isEqualTo(QueueState.AWAITING_ANSWERS);
    assertThat(orders.confirmed()).containsExactly(CONFIRMED);
    assertThat(status.outstanding()).as("still in the private queue").isEqualTo(2);
    assertThat(status.inFlight()).isZero();
  }

  @Test
  void keepsCountingOrdersInFlightAfterAFailureOfRedis() throws Exception {
    recovery.attempt(
        () -> {
          throw new JedisConnectionException("no reply");
        });

    assertThat(status.state()).isEqualTo(LaneState.REDIS_UNAVAILABLE);
    assertThat(status.reason()).contains("no reply");
    assertThat(orders.state()).isEqualTo(QueueState.AWAITING_ANSWERS);
    assertThat(orders.count()).isEqualTo(2);
  }

  @Test
  void replacesBothConnectionsAfterAnUnexpectedException() throws Exception {
    recovery.attempt(
        () -> {
          throw new IllegalStateException("a defect");
        });

    assertThat(status.state()).isEqualTo(LaneState.REDIS_UNAVAILABLE);
    assertThat(orders.state()).isEqualTo(QueueState.AWAITING_ANSWERS);
    assertThat(orders.count()).isEqualTo(1);
  }

  @Test
  void replacesBothConnectionsAfterAnError() throws Exception {
    recovery.attempt(
        () -> {
          throw new InternalError("no thread");
        });

    assertThat(status.state()).isEqualTo(LaneState.REDIS_UNAVAILABLE);
    assertThat(orders.state()).isEqualTo(QueueState.AWAITING_ANSWERS);
    assertThat(orders.count()).isEqualTo(1);
  }

  /** A slow election of a leader is no reason to publish its orders twice. */
  @Test
  void keepsItsLeaseWhileItWaitsForTheLinkAfterABrokenOne() throws Exception {
    assertThat(recovery.keepsLease()).isTrue();
    loseTheBroker();
    assertThat(recovery.keepsLease()).isTrue();
    loseTheBroker();
    assertThat(recovery.keepsLease()).as("it could not connect").isTrue();

    orders.removed();
    orders.published(List.of(UNANSWERED));
    loseTheBroker();
    assertThat(recovery.keepsLease()).as("the confirmed order was of the first link").isTrue();
    orders.published(List.of(UNANSWERED));
    loseTheBroker();
    assertThat(recovery.keepsLease()).isFalse();
  }

  @Test
  void keepsNoLeaseByTryingAgainAtRedis() throws Exception {
    recovery.attempt(
        () -> {
          throw new JedisConnectionException("no reply");
        });

    assertThat(recovery.keepsLease()).isFalse();
  }

  private void loseTheBroker() throws InterruptedException {
    recovery.attempt(
        () -> {
          throw new BrokerFailureException("the link broke", null);
        });
  }

  @Test
  void doesNotTryAgainAfterTheLastAttempt() throws Exception {
    recovery.lastAttempt(
        () -> {
          throw new BrokerFailureException("the link broke", null);
        });

    assertThat(status.state()).isEqualTo(LaneState.RUNNING);
    assertThat(orders.count()).isEqualTo(2);
  }

  /** Its orders are for other lanes; this one has not failed. */
  @Test
  void forgetsTheOrdersOfAFencedLease() throws Exception {
    recovery.attempt(
        () -> {
          throw new LeaseFencedException("relay:0:aa");
        });

    assertThat(status.state()).isEqualTo(LaneState.RUNNING);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
    assertThat(orders.count()).isZero();
    assertThat(orders.confirmed()).isEmpty();
    assertThat(status.outstanding()).isZero();
    assertThat(registry.get("seckill.relay.leases.fenced").counter().count()).isEqualTo(1);
  }
}
