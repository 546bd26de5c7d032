package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Sends messages to the dead queue. Thread-safe. */
@Component
public class DeadLetterPublisher {

  private final ConfirmingPublisher publisher;
  private final DeadLetterMeters meters;

  DeadLetterPublisher(ConfirmingPublisher publisher, DeadLetterMeters meters) {
    this.publisher = publisher;
    this.meters = meters;
  }

  /**
   * @return completes with true once the broker has confirmed it; only then may the original be
   *     acked. See {@link ConfirmingPublisher#publish}
   */
  public CompletableFuture<Boolean> publish(DeadLetter letter) {
    return publisher
        .publish(
            BrokerTopology.DEAD_EXCHANGE,
            BrokerTopology.DEAD_ROUTING_KEY,
            properties(letter),
            letter.payload())
        .whenComplete(
            (confirmed, failure) -> {
              if (Boolean.TRUE.equals(confirmed)) {
                meters.count(letter.reason(), 1);
              }
            });
  }

  private static BasicProperties properties(DeadLetter letter) {
    BasicProperties.Builder properties =
        new BasicProperties.Builder().contentType("application/json").headers(headers(letter));
    if (letter.order() != null) {
      properties.messageId(letter.order().orderId().toString());
    }
    return properties.build();
  }

  private static Map<String, Object> headers(DeadLetter letter) {
    Map<String, Object> headers = new HashMap<>();
    headers.put(DeadLetterHeaders.REASON, letter.reason().name());
    headers.put(DeadLetterHeaders.DETAIL, letter.detail());
    headers.put(DeadLetterHeaders.ATTEMPTS, letter.attempts());
    headers.put(DeadLetterHeaders.FIRST_FAILED_AT, letter.firstFailedAt());
    headers.put(DeadLetterHeaders.LAST_FAILED_AT, letter.lastFailedAt());
    if (letter.routingKey() != null) {
      headers.put(DeadLetterHeaders.ROUTING_KEY, letter.routingKey());
    }
    return headers;
  }
}
