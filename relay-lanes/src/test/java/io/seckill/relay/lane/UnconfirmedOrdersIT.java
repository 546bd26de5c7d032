package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An order leaves its private queue only after a queue of the broker has stored it. */
class UnconfirmedOrdersIT extends LaneFixture {

  UnconfirmedOrdersIT() {
    super(TestServers.redis(), TestServers.rabbit());
  }

  /** facts.md 16: an unroutable message is acked too, after its return. */
  @Test
  void keepsTheOrderWhenTheBrokerAcksAnUnroutableMessage() throws Exception {
    try (TestRelay relay = start(TestRelay.Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      broker.channel().queueDelete(BrokerTopology.orderQueue(0));

      List<String> admitted = outbox.admit(10, SKU);

      eventually().until(() -> outbox.waiting() == 0 && outbox.inPrivateQueues() == 0);
      BrokerTopology.declare(broker.channel()); // so that there is a queue to consume from
      broker.consume();
      everythingIsDelivered(broker, admitted);
      assertThat(relay.count("returns")).isPositive();
    }
  }

  /** facts.md 15, 17: the outcome of an unconfirmed publish is unknown, so it is sent again. */
  @Test
  void sendsAgainWhatWasNotConfirmedInTime() throws Exception {
    TestRelay.Tuning brief = TestRelay.Tuning.PATIENT.withConfirmTimeout(Duration.ofSeconds(3));
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestRelay relay = TestRelay.start(redis.url(), rabbit.via(proxy).url(), brief)) {
      broker.consume();
      awaitAll(relay, LaneState.RUNNING);
      proxy.dropToClient(true);
      List<String> admitted = outbox.admit(10, SKU);
      everythingIsDelivered(broker, admitted);

      eventually().until(() -> relay.lane(0).state() == LaneState.BROKER_UNAVAILABLE);
      assertThat(outbox.inPrivateQueues()).as("unconfirmed, so kept").isEqualTo(10);
      assertThat(relay.count("settled")).isZero();

      proxy.heal();
      eventually().until(() -> relay.count("settled") == 10);
      eventually().until(() -> broker.duplicates() == 10);
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      assertThat(outbox.inPrivateQueues()).isZero();
    }
  }

  /** facts.md 15: with automatic recovery, publishes lost in the reset would look confirmed. */
  @Test
  void sendsAgainWhatWasNotConfirmedWhenTheLinkBreaks() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestRelay relay =
            TestRelay.start(redis.url(), rabbit.via(proxy).url(), TestRelay.Tuning.PATIENT)) {
      broker.consume();
      awaitAll(relay, LaneState.RUNNING);
      proxy.dropToServer(true);
      List<String> admitted = outbox.admit(10, SKU);
      eventually().until(() -> relay.lane(0).inFlight() == 10 && proxy.droppedBytes() > 0);

      proxy.heal(); // resets the connections that lost bytes

      everythingIsDelivered(broker, admitted);
      eventually().until(() -> outbox.waiting() == 0 && outbox.inPrivateQueues() == 0);
      eventually().until(() -> relay.count("settled") == 10);
      assertThat(relay.count("republished")).isEqualTo(10);
      assertThat(broker.duplicates()).isZero();
    }
  }

  private static void everythingIsDelivered(TestBroker broker, List<String> admitted) {
    eventually()
        .untilAsserted(
            () ->
                assertThat(broker.deliveries().keySet())
                    .as("orders delivered")
                    .containsExactlyInAnyOrderElementsOf(admitted));
  }
}
