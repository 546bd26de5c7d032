package io.seckill.consumer.payment;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * Delivers a message when the payment time-out is over, without a plug-in: the message waits in a
 * queue whose TTL is the delay and is then dead-lettered to {@link #EXPIRED_QUEUE}.
 *
 * <p>A message expires only at the head of its queue, so every delay has a queue of its own, and a
 * changed time-out uses another queue; the old one drains by itself. Neither hop loses messages:
 * both use quorum queues and at-least-once dead-lettering, which needs {@code reject-publish}.
 */
@Component
public final class PaymentDelayTopology {

  /** Direct, durable; publish here with {@link #routingKey}. */
  public static final String EXCHANGE = "seckill.payment";

  /** The queue that receives {@link ExpiryMessage}s when their time is over. */
  public static final String EXPIRED_QUEUE = "seckill.payment-expired";

  private static final String EXPIRED_KEY = "expired";

  private final Duration delay;

  @Autowired
  PaymentDelayTopology(PaymentProperties properties) {
    this(properties.timeout());
  }

  PaymentDelayTopology(Duration delay) {
    this.delay = delay;
  }

  /** Routing key, and name, of the queue that holds messages for the payment time-out. */
  public String routingKey() {
    return "seckill.payment-delay." + delay.toMillis();
  }

  /**
   * Declares everything, idempotently.
   *
   * @throws IOException when the broker refuses or is unavailable; the channel is then closed
   */
  public void declare(Channel channel) throws IOException {
    channel.exchangeDeclare(EXCHANGE, BuiltinExchangeType.DIRECT, true);
    channel.queueDeclare(EXPIRED_QUEUE, true, false, false, Map.of("x-queue-type", "quorum"));
    channel.queueBind(EXPIRED_QUEUE, EXCHANGE, EXPIRED_KEY);
    channel.queueDeclare(routingKey(), true, false, false, delayArguments());
    channel.queueBind(routingKey(), EXCHANGE, routingKey());
  }

  private Map<String, Object> delayArguments() {
    return Map.of(
        "x-queue-type",
        "quorum",
        "x-message-ttl",
        delay.toMillis(),
        "x-dead-letter-exchange",
        EXCHANGE,
        "x-dead-letter-routing-key",
        EXPIRED_KEY,
        "x-dead-letter-strategy",
        "at-least-once",
        "x-overflow",
        "reject-publish");
  }
}
