package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.support.broker.BrokerSettings;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class ConfirmingPublisherIT {

  /** Dead letters of a batch, for example: a try takes as long as the handshake's time-out. */
  @Test
  void doesNotConnectForEachMessageToABrokerThatDoesNotAnswer() throws IOException {
    RabbitVhost vhost = TestServers.rabbit().newVhost();
    try (TcpProxy silent = TcpProxy.to(TestServers.rabbit());
        ConfirmingPublisher publisher = publisher(vhost.via(silent).url())) {
      silent.dropToServer(true);

      List<CompletableFuture<Boolean>> confirms =
          Stream.generate(() -> publish(publisher)).limit(5).toList();

      assertThat(confirms).allSatisfy(confirm -> assertThat(confirm).isCompletedWithValue(false));
      assertThat(silent.acceptedConnections()).as("each reconnect pauses").isLessThan(5);
    }
  }

  private static ConfirmingPublisher publisher(String url) {
    return new ConfirmingPublisher(
        new BrokerConnections(new BrokerSettings(List.of(url), Duration.ofSeconds(5), null)),
        "test",
        BrokerTopology::declare);
  }

  private static CompletableFuture<Boolean> publish(ConfirmingPublisher publisher) {
    return publisher.publish(
        BrokerTopology.DEAD_EXCHANGE,
        BrokerTopology.DEAD_ROUTING_KEY,
        new BasicProperties(),
        new byte[] {'x'});
  }
}
