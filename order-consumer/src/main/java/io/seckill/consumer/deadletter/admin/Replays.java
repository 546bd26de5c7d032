package io.seckill.consumer.deadletter.admin;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.broker.BrokerConnections;
import io.seckill.consumer.broker.BrokerProperties;
import io.seckill.consumer.broker.ConfirmingPublisher;
import io.seckill.consumer.deadletter.DeadLetterHeaders;
import io.seckill.consumer.internal.ProblemException;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.Date;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.stereotype.Component;

/** Sends a dead letter's message to the orders exchange once more. Thread-safe. */
@Component
class Replays {

  private final ConfirmingPublisher publisher;
  private final Duration confirmTimeout;

  Replays(BrokerConnections connections, BrokerProperties broker) {
    this.publisher = new ConfirmingPublisher(connections, "replays", BrokerTopology::declare);
    this.confirmTimeout = broker.confirmTimeout();
  }

  /**
   * Publishes the very bytes that came, to the queue the order belongs to. Its tries begin anew;
   * the headers only carry on what operators see of its history.
   *
   * @throws ProblemException 503 when the broker has not confirmed it: it may be there or not, and
   *     a second message does no harm
   */
  void publish(OrderMessage order, Letters.Message letter) {
    CompletableFuture<Boolean> confirm =
        publisher.publish(
            BrokerTopology.ORDERS_EXCHANGE,
            BrokerTopology.routingKey(order.orderId().partition()),
            properties(order, letter),
            letter.payload());
    if (!isConfirmed(confirm)) {
      throw ProblemException.unavailable(
          "The broker has not confirmed the message; send the same request again.");
    }
  }

  @SuppressWarnings("JavaUtilDate") // the AMQP client knows no other time
  private static BasicProperties properties(OrderMessage order, Letters.Message letter) {
    return new BasicProperties.Builder()
        .messageId(order.orderId().toString())
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

  private boolean isConfirmed(CompletableFuture<Boolean> confirm) {
    try {
      return Boolean.TRUE.equals(confirm.get(confirmTimeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException | ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @PreDestroy
  void close() {
    publisher.close();
  }
}
