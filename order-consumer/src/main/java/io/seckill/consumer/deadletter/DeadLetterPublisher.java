package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Sends messages to the dead queue, and from it back to the order queues. Thread-safe. */
@Component
public record DeadLetterPublisher(ConfirmingPublisher publisher, DeadLetterMeters meters) {

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
    OrderMessage order = letter.order();
    return new BasicProperties.Builder()
        .messageId(order == null ? null : order.orderId().toString())
        .contentType("application/json")
        .headers(DeadLetterHeaders.of(letter))
        .build();
  }

  /**
   * Publishes exactly the bytes that were received. The count of attempts starts again; the headers
   * only preserve the history that operators see.
   *
   * @throws ProblemException 409 CUT when bytes are lost; 409 UNREADABLE when their routing key is
   *     unknown; 503 when the broker has not confirmed them: it may or may not have them, and a
   *     second message is harmless
   */
  void replay(DeadLetterRecord letter) {
    byte[] payload = letter.message();
    if (payload == null) {
      throw ProblemException.of(
          ProblemCode.CUT,
          "An older version kept only the beginning of the message; only discard it.");
    }
    OrderMessage order = letter.order();
    String routingKey =
        order == null
            ? letter.routingKey()
            : BrokerTopology.routingKey(order.orderId().partition());
    if (routingKey == null) {
      throw ProblemException.of(
          ProblemCode.UNREADABLE,
          "The message cannot be read and nobody knows its queue; only discard it.");
    }
    if (!publisher.publishAndWait(
        BrokerTopology.ORDERS_EXCHANGE, routingKey, replayed(order, letter), payload)) {
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "The broker has not confirmed the message; send the same request again.");
    }
  }

  private static BasicProperties replayed(@Nullable OrderMessage order, DeadLetterRecord letter) {
    return ConfirmingPublisher.properties(order)
        .headers(
            Map.of(
                DeadLetterHeaders.ATTEMPTS,
                letter.attempts(),
                DeadLetterHeaders.FIRST_FAILED_AT,
                letter.firstFailedAt().toEpochMilli()))
        .build();
  }
}
