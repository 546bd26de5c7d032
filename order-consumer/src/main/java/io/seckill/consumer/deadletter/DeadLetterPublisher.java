package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.broker.BrokerConnections;
import io.seckill.consumer.broker.ConfirmingPublisher;
import jakarta.annotation.PreDestroy;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Sends messages to the dead queue. Thread-safe. */
@Component
public class DeadLetterPublisher {

  private final ConfirmingPublisher publisher;
  private final Map<DeadLetterReason, Counter> letters = new EnumMap<>(DeadLetterReason.class);

  public DeadLetterPublisher(BrokerConnections connections, MeterRegistry meters) {
    this.publisher = new ConfirmingPublisher(connections, "dead letters", BrokerTopology::declare);
    for (DeadLetterReason reason : DeadLetterReason.values()) {
      letters.put(
          reason,
          Counter.builder("seckill.consumer.dead.letters")
              .description("Messages given up on, confirmed by the broker")
              .tag("reason", reason.name())
              .register(meters));
    }
  }

  /**
   * @return true once the broker has it; only then the original may be acked. See {@link
   *     ConfirmingPublisher#publish}
   */
  public CompletableFuture<Boolean> publish(DeadLetter letter) {
    return publisher
        .publish(
            BrokerTopology.DEAD_EXCHANGE,
            BrokerTopology.DEAD_ROUTING_KEY,
            properties(letter),
            letter.payload())
        .whenComplete((confirmed, failure) -> count(letter, Boolean.TRUE.equals(confirmed)));
  }

  private static BasicProperties properties(DeadLetter letter) {
    BasicProperties.Builder properties =
        new BasicProperties.Builder()
            .contentType("application/json")
            .headers(
                Map.of(
                    DeadLetterHeaders.REASON,
                    letter.reason().name(),
                    DeadLetterHeaders.DETAIL,
                    letter.detail(),
                    DeadLetterHeaders.ATTEMPTS,
                    letter.attempts(),
                    DeadLetterHeaders.FIRST_FAILED_AT,
                    letter.firstFailedAt(),
                    DeadLetterHeaders.LAST_FAILED_AT,
                    letter.lastFailedAt()));
    if (letter.order() != null) {
      properties.messageId(letter.order().orderId().toString());
    }
    return properties.build();
  }

  private void count(DeadLetter letter, boolean confirmed) {
    Counter counter = letters.get(letter.reason());
    if (confirmed && counter != null) {
      counter.increment();
    }
  }

  @PreDestroy
  void close() {
    publisher.close();
  }
}
