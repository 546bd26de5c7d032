package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConfirmCallback;
import com.rabbitmq.client.Connection;
import io.seckill.support.broker.BrokerSettings;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConfirmingPublisherTest {

  /** For acks and for nacks. */
  private final List<ConfirmCallback> listeners = new ArrayList<>();

  private long published;

  @Test
  void anAnswerIsForItsMessagesAlone() throws IOException {
    try (ConfirmingPublisher publisher = publisher()) {
      List<CompletableFuture<Boolean>> confirms =
          Stream.generate(
                  () -> publisher.publish("exchange", "key", new BasicProperties(), new byte[0]))
              .limit(4)
              .toList();

      listeners.get(0).handle(2, false);
      assertThat(confirms.get(1)).isCompletedWithValue(true);
      assertThat(confirms.get(0)).isNotDone();

      listeners.get(1).handle(3, true);
      assertThat(confirms.get(0)).isCompletedWithValue(false);
      assertThat(confirms.get(1)).isCompletedWithValue(true);
      assertThat(confirms.get(2)).isCompletedWithValue(false);
      assertThat(confirms.get(3)).isNotDone();
    }
  }

  @Test
  void aMissingConfirmCountsAsANack() throws InterruptedException {
    CompletableFuture<Boolean> failed = CompletableFuture.failedFuture(new IOException("closed"));

    assertThat(ConfirmingPublisher.await(new CompletableFuture<>(), System.nanoTime())).isFalse();
    assertThat(ConfirmingPublisher.await(failed, System.nanoTime())).isFalse();
  }

  private ConfirmingPublisher publisher() {
    BrokerSettings settings =
        new BrokerSettings(
            List.of("amqp://consumer:secret@127.0.0.1:1/seckill"), Duration.ofSeconds(5), null);
    BrokerConnections connections =
        new BrokerConnections(settings) {
          @Override
          public Connection open(String purpose) {
            return connection();
          }
        };
    return new ConfirmingPublisher(connections, "test", channel -> {});
  }

  /** Its channel is open, and counts what is published. */
  private Connection connection() {
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class, Channel.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "createChannel" -> proxy;
                  case "isOpen" -> true;
                  case "getNextPublishSeqNo" -> ++published;
                  case "addConfirmListener" -> {
                    listeners.add((ConfirmCallback) args[0]);
                    listeners.add((ConfirmCallback) args[1]);
                    yield null;
                  }
                  default -> null;
                });
  }
}
