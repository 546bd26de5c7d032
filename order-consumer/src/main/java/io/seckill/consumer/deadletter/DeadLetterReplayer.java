package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.support.web.ProblemException;
import java.util.Date;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Sends a dead letter's message to the orders exchange once more. Thread-safe. */
@Component
class DeadLetterReplayer {

  private final ConfirmingPublisher publisher;

  DeadLetterReplayer(ConfirmingPublisher publisher) {
    this.publisher = publisher;
  }

  /**
   * Publishes exactly the bytes that were received. The count of attempts starts again; the headers
   * only preserve the history that operators see.
   *
   * @throws ProblemException 409 CUT when bytes are lost; 409 UNREADABLE when their routing key is
   *     unknown; 503 when the broker has not confirmed them: it may or may not have them, and a
   *     second message is harmless
   */
  void publish(DeadLetterTable.Message letter) {
    byte[] payload = letter.payload();
    if (payload == null) {
      throw ProblemException.conflict(
          "CUT", "An older version kept only the beginning of the message; only discard it.");
    }
    OrderMessage order = letter.order();
    String routingKey =
        order == null
            ? letter.routingKey()
            : BrokerTopology.routingKey(order.orderId().partition());
    if (routingKey == null) {
      throw ProblemException.conflict(
          "UNREADABLE", "The message cannot be read and nobody knows its queue; only discard it.");
    }
    if (!publisher.publishAndWait(
        BrokerTopology.ORDERS_EXCHANGE, routingKey, properties(order, letter), payload)) {
      throw ProblemException.unavailable(
          "The broker has not confirmed the message; send the same request again.");
    }
  }

  @SuppressWarnings("JavaUtilDate") // the AMQP client knows no other time
  private static BasicProperties properties(
      @Nullable OrderMessage order, DeadLetterTable.Message letter) {
    return new BasicProperties.Builder()
        .messageId(order == null ? null : order.orderId().toString())
        .contentType("application/json")
        .timestamp(new Date())
        .appId("order-consumer")
        .headers(
            Map.of(
                DeadLetterHeaders.ATTEMPTS,
                letter.attempts(),
                DeadLetterHeaders.FIRST_FAILED_AT,
                letter.firstFailedAtMs()))
        .build();
  }
}
