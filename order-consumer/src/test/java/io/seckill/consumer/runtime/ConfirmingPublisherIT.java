package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Connection;
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

  /** A process that is stopped, for example: its system accepts what fits into its buffers. */
  @Test
  void publishesAgainAfterABrokerThatDidNotRead() throws IOException {
    RabbitVhost vhost = TestServers.rabbit().newVhost();
    try (TcpProxy stopped = TcpProxy.to(TestServers.rabbit());
        ConfirmingPublisher publisher = publisher(vhost.via(stopped).url())) {
      eventually().until(() -> isConfirmed(publisher));
      stopped.delay(Duration.ofHours(1));

      CompletableFuture<Boolean> failure =
          CompletableFuture.supplyAsync(
              () ->
                  Stream.generate(() -> publish(publisher, new byte[65_536]))
                      .limit(1_000) // far more than fits into the buffers
                      .anyMatch(CompletableFuture::isDone));
      try {
        eventually("the write ends").until(failure::isDone);
        assertThat(failure).isCompletedWithValue(true);
      } finally {
        stopped.heal();
        stopped.reset(); // else close() would hang as well
      }
      eventually().until(() -> isConfirmed(publisher));
    }
  }

  @Test
  void declaresAgainWhenAMessageWasReturned() throws Exception {
    RabbitVhost vhost = TestServers.rabbit().newVhost();
    try (ConfirmingPublisher publisher = publisher(vhost.url());
        Connection connection = vhost.connect()) {
      eventually().until(() -> isConfirmed(publisher));
      connection
          .createChannel()
          .queueUnbind(
              BrokerTopology.DEAD_QUEUE,
              BrokerTopology.DEAD_EXCHANGE,
              BrokerTopology.DEAD_ROUTING_KEY);

      assertThat(isConfirmed(publisher)).as("returned").isFalse();

      eventually("a later one is routed").until(() -> isConfirmed(publisher));
    }
  }

  /** Heartbeats as often as possible, for the sake of the test's duration. */
  private static ConfirmingPublisher publisher(String url) {
    return new ConfirmingPublisher(
        new BrokerConnections(new BrokerSettings(List.of(url), Duration.ofSeconds(1), null)),
        "test",
        BrokerTopology::declare);
  }

  private static CompletableFuture<Boolean> publish(ConfirmingPublisher publisher) {
    return publish(publisher, new byte[] {'x'});
  }

  private static CompletableFuture<Boolean> publish(ConfirmingPublisher publisher, byte[] body) {
    return publisher.publish(
        BrokerTopology.DEAD_EXCHANGE, BrokerTopology.DEAD_ROUTING_KEY, new BasicProperties(), body);
  }

  private static boolean isConfirmed(ConfirmingPublisher publisher) {
    return ConfirmingPublisher.isConfirmed(publish(publisher), publisher.confirmDeadline());
  }
}
