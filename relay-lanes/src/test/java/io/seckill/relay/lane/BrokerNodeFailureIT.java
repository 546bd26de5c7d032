package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.testing.Eventually;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link BrokerFailureIT}, with failures of a whole node, which no other test may see. */
@Tag("proof")
class BrokerNodeFailureIT extends LaneFixture {

  private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(5);

  @AutoClose private static final RabbitServer ownServer = RabbitServer.start();

  BrokerNodeFailureIT() {
    super(TestServers.redis(), ownServer);
  }

  /** facts.md 21: blocked connections get no confirms; the lane claims no more orders. */
  @Test
  void takesNothingWhileAnAlarmBlocksPublishing() throws Exception {
    Tuning tuning = Tuning.PATIENT.withConfirmTimeout(CONFIRM_TIMEOUT);
    broker.consume();
    try (TestRelay relay = start(tuning)) {
      awaitAll(relay, LaneState.RUNNING);
      rabbitServer.setMemoryWatermark(0.0000001);
      try {
        List<String> first = outbox.admit(5, SKU); // the broker blocks a connection that publishes
        eventually().until(() -> relay.lane(0).state() == LaneState.BLOCKED);
        List<String> second = outbox.admit(100, SKU);
        await()
            .during(CONFIRM_TIMEOUT.plusMillis(500))
            .atMost(Eventually.SOON)
            .until(() -> outbox.waiting() == 100 && relay.lane(0).state() == LaneState.BLOCKED);

        rabbitServer.setMemoryWatermark(0.4);
        eventually().until(() -> broker.seen() == first.size() + second.size());
        eventually().until(() -> outbox.inPrivateQueues() == 0);
        assertThat(broker.duplicates()).isZero();
        assertThat(relay.blockedSeconds()).isPositive();
      } finally {
        rabbitServer.setMemoryWatermark(0.4);
      }
    }
  }

  @Test
  void aGatewaysLaneTakesNothingWhileAnAlarmBlocksPublishing() throws Exception {
    broker.consume();
    try (TestDirectLanes lanes = TestDirectLanes.startPatient(redis.url(), rabbit.url(), 512)) {
      String before = lanes.awaitOpen(0);
      rabbitServer.setMemoryWatermark(0.0000001);
      try {
        List<String> first = lanes.admit(outbox, 5, SKU); // blocks a connection that publishes
        eventually().until(() -> lanes.lane(0).state() == LaneState.BLOCKED);
        assertThat(lanes.admit(outbox, 1, SKU)).isEmpty();

        rabbitServer.setMemoryWatermark(0.4);
        assertThat(lanes.awaitOpen(0)).isNotEqualTo(before);
        List<String> second = lanes.admit(outbox, 5, SKU);
        eventually().until(() -> broker.seen() == first.size() + second.size());
        eventually().until(() -> outbox.inPrivateQueues() == 0);
        assertThat(broker.duplicates()).isZero();
      } finally {
        rabbitServer.setMemoryWatermark(0.4);
      }
    }
  }

  @Test
  void leavesTheBacklogInTheOutboxWhileTheBrokerIsFrozen() throws Exception {
    try (TestRelay relay = start(Tuning.DEFAULT.withMaxUnconfirmed(10))) {
      awaitAll(relay, LaneState.RUNNING);
      rabbitServer.freeze();
      List<String> admitted = outbox.admit(100, SKU);
      eventually().until(() -> relay.lane(0).state() == LaneState.BROKER_UNAVAILABLE);
      assertThat(outbox.waiting()).isGreaterThanOrEqualTo(90);
      assertThat(outbox.inPrivateQueues() + outbox.waiting()).isEqualTo(100);

      rabbitServer.thaw();
      everythingIsStored(admitted);
    } finally {
      rabbitServer.thaw();
    }
  }

  /** facts.md 19: what a quorum queue has confirmed survives kill -9. */
  @Test
  void losesNothingWhenTheBrokerIsKilledUnderLoad() throws Exception {
    try (TestRelay relay = start()) {
      awaitAll(relay, LaneState.RUNNING);
      List<String> admitted = outbox.admit(10_000, TestOutbox.skusOfEveryPartition());
      eventually().until(() -> relay.count("settled") > 2_000);
      rabbitServer.kill();
      awaitAll(relay, LaneState.BROKER_UNAVAILABLE);
      rabbitServer.restart();

      try (TestBroker restarted = TestBroker.consuming(rabbit.url())) {
        everythingArrives(restarted, admitted);
      }
    }
  }
}
