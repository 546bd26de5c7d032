package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.testing.Eventually;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In every failure of the broker orders stay in Redis until it has confirmed them. */
class BrokerFailureIT extends LaneFixture {

  BrokerFailureIT() {
    super(TestServers.redis(), TestServers.rabbit());
  }

  /** facts.md 16: a missing exchange closes the channel. */
  @Tag("proof")
  @Test
  void declaresAMissingExchangeAgain() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestRelay relay = TestRelay.start(redis.url(), rabbit.via(proxy).url(), Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      long links = proxy.acceptedConnections();
      broker.channel().exchangeDelete(BrokerTopology.ORDERS_EXCHANGE);

      List<String> admitted = outbox.admit(10, SKU);
      eventually("another link in place of the closed channel")
          .until(() -> proxy.acceptedConnections() > links);
      everythingIsStored(admitted);
      eventually().until(() -> relay.lane(0).state() == LaneState.RUNNING);
    }
  }

  /** A link is replaced after three refused batches, however many orders of each are refused. */
  @Test
  void keepsItsLinkOverTwoRefusedBatches() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestRelay relay = TestRelay.start(redis.url(), rabbit.via(proxy).url(), Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      long links = proxy.acceptedConnections();
      for (int batch = 1; batch <= 2; batch++) {
        long returns = relay.count("returns");
        broker.channel().queueDelete(BrokerTopology.orderQueue(0));
        outbox.admit(100, SKU);
        int carried = 100 * batch;
        eventually().until(() -> relay.count("settled") == carried);
        assertThat(relay.count("returns")).as("refusals").isGreaterThan(returns);
      }
      assertThat(proxy.acceptedConnections()).isEqualTo(links);
    }
  }

  /** Its channel would refuse orders after the queue has room again. */
  @Test
  void replacesItsLinkWhileAFullQueueRefusesEveryBatch() throws Exception {
    rabbit.setPolicy(
        "full", "seckill.orders.0", "{\"max-length\":5,\"overflow\":\"reject-publish\"}");
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestRelay relay = TestRelay.start(redis.url(), rabbit.via(proxy).url(), Tuning.PATIENT)) {
      awaitAll(relay, LaneState.RUNNING);
      long links = proxy.acceptedConnections();

      eventually()
          .until(
              () -> {
                outbox.admit(20, SKU); // the queue's limit acts with a delay
                return proxy.acceptedConnections() > links;
              });
    }
  }

  @Test
  void linksThatBreakKeepTheNextFromConnecting() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(rabbitServer)) {
      eventually() // on a slow machine the breaker may permit a trial before it is asked
          .untilAsserted(() -> twoLinksThatBreakKeepTheNextFromConnecting(proxy));
    }
  }

  private void twoLinksThatBreakKeepTheNextFromConnecting(TcpProxy proxy) throws Exception {
    LaneConnections lane =
        new LaneConnections(
            "lane",
            RelayLane.POLL_INTERVAL,
            RedisSettings.single(redis.url()),
            TestRelay.connector(
                TestRelay.broker(rabbit.via(proxy).url(), null),
                Tuning.PATIENT,
                new RelayMeters(new SimpleMeterRegistry())),
            new LaneLease("relay", 0, 0, Eventually.SOON));
    List<OutboundOrder> confirmed = new ArrayList<>();
    try {
      for (int link = 0; link < 2; link++) {
        lane.open();
        lane.link().publish(List.of(OutboundOrder.of(new byte[] {'{', '}'}, 0)));
        eventually().until(() -> lane.link().pending() == 0);
        proxy.reset();
        eventually().until(() -> lane.link().isUnavailable());
        lane.dropBrokenLink(new BrokerFailureException("it broke", null), confirmed);
      }

      assertThat(confirmed).as("orders that are not to be sent again").hasSize(2);
      assertThatThrownBy(lane::open).hasMessage("the circuit breaker is open: it broke");
    } finally {
      lane.close();
    }
  }

  /** A full queue keeps both lanes from settling until each has claimed orders. */
  @Test
  void twoLanesOfAPartitionShareItsOrdersAndCarryEachOnce() throws Exception {
    rabbit.setPolicy(
        "full", "seckill.orders.0", "{\"max-length\":5,\"overflow\":\"reject-publish\"}");
    outbox.preheat(SKU);
    List<String> admitted = new ArrayList<>(outbox.admit(500, SKU));
    try (TestRelay relay =
        TestRelay.start(
            redis.url(),
            rabbit.url(),
            Tuning.PATIENT.withLanesPerPartition(2).withMaxUnconfirmed(16))) {
      assertThat(relay.lanesOf(0)).hasSize(2);
      eventually()
          .until(
              () -> {
                admitted.addAll(outbox.admit(20, SKU)); // the queue's limit acts with a delay
                return relay.count("nacks") > 0
                    && relay.lanesOf(0).stream().allMatch(lane -> lane.outstanding() > 0);
              });
      eventually()
          .until(
              () -> relay.lanesOf(1).stream().allMatch(lane -> lane.state() == LaneState.RUNNING));

      rabbit.clearPolicy("full");

      everythingIsStored(admitted);
      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      assertThat(broker.duplicates()).isZero();
      eventually().until(() -> relay.count("settled") == admitted.size());
      assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(admitted.size());
      assertThat(relay.count("adopted")).isZero();
    }
  }

  @Test
  void takesNothingWhileItCannotLogIn() throws Exception {
    String wrong = rabbit.url().replace(rabbitServer.password() + "@", "wrong@");
    outbox.admit(10, SKU);
    try (TestRelay relay = TestRelay.start(redis.url(), wrong)) {
      eventually().until(() -> relay.lane(0).state() == LaneState.BROKER_UNAVAILABLE);
      assertThat(relay.lane(0).reason()).doesNotContain("wrong@");
      assertThat(outbox.waiting()).isEqualTo(10);
    }
    assertThat(outbox.waiting()).isEqualTo(10);
  }
}
