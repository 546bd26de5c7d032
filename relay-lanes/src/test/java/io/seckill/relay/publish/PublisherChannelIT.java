package io.seckill.relay.publish;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerAddresses;
import io.seckill.common.broker.ProcessName;
import io.seckill.testing.Bounded;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One link to a real broker, without a lane. */
@ExtendWith(TestServers.class)
class PublisherChannelIT {

  /** Of large orders, far more than fits into the buffers of a connection. */
  private static final int WINDOW = 1_000;

  /**
   * facts.md 15: a link that reconnects automatically would number its publishes from 1 again, and
   * take confirms of new publishes for confirms of old ones.
   */
  @Test
  void staysBrokenWhenTheBrokerIsThereAgain(RabbitServer broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker);
        PublisherChannel link = connector(broker.newVhost().via(proxy).url()).open("test")) {
      proxy.reset();
      eventually()
          .untilAsserted(
              () -> assertThatThrownBy(link::check).isInstanceOf(BrokerFailureException.class));

      await("nobody but the lane opens a link")
          .during(Duration.ofSeconds(1))
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(() -> assertThat(proxy.openConnections()).as("connections").isZero());

      assertThatThrownBy(() -> link.publish(List.of(order())))
          .isInstanceOf(BrokerFailureException.class);
      assertThat(link.isUnavailable()).isTrue();
    }
  }

  /** A process that is stopped, for example: its system accepts what fits into its buffers. */
  @Test
  void breaksWhenTheBrokerDoesNotRead(RabbitServer broker) throws Exception {
    OutboundOrder large = OutboundOrder.of(new byte[65_536], 0);
    try (TcpProxy stopped = TcpProxy.to(broker);
        PublisherChannel link =
            connector(broker.newVhost().via(stopped).url() + "?heartbeat=1").open("test")) {
      stopped.delay(Duration.ofHours(1));

      CompletableFuture<Void> publish =
          CompletableFuture.runAsync(
              () ->
                  assertThatThrownBy(() -> link.publish(Collections.nCopies(WINDOW, large)))
                      .isInstanceOf(BrokerFailureException.class));
      try {
        eventually("the write ends").until(publish::isDone);
        Bounded.get(publish);
      } finally {
        stopped.reset(); // else close() would hang as well
      }
    }
  }

  /** Connection names of lanes of two relays differ by host and process. */
  @Test
  void theBrokerShowsWhoPublishes(RabbitServer broker) throws Exception {
    RabbitVhost vhost = broker.newVhost();
    try (PublisherChannel link = connector(vhost.url()).open("lane-1")) {
      link.check();
      eventually()
          .until(
              () ->
                  vhost
                      .connectionNames()
                      .contains(ProcessName.withRole("relay-service") + " lane-1"));
    }
  }

  private static OutboundOrder order() {
    return OutboundOrder.of(new byte[] {'{', '}'}, 0);
  }

  private static BrokerConnector connector(String url) {
    ConnectionFactory broker = new BrokerAddresses(List.of(url), null);
    return new BrokerConnector(
        broker,
        new LinkSettings("relay-service", true, WINDOW, Duration.ofSeconds(3)),
        new RelayMeters(new SimpleMeterRegistry()));
  }
}
