package io.seckill.common.broker;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Exchanges and queues of the order flow. Relay and consumer both declare them at start; the
 * declaration is idempotent, and fails when the broker has a queue of the same name with other
 * arguments. The number of members of a quorum queue is the broker's default (facts.md 43).
 */
public final class BrokerTopology {

  /** Direct, durable; routing key is {@link #routingKey}. */
  public static final String ORDERS_EXCHANGE = "seckill.orders";

  /** Direct, durable; routing key is {@link #DEAD_ROUTING_KEY}. */
  public static final String DEAD_EXCHANGE = "seckill.dead";

  public static final String DEAD_QUEUE = "seckill.orders.dead";
  public static final String DEAD_ROUTING_KEY = "dead";

  /** Header of a message in {@link #DEAD_QUEUE}: why it is there, a DeadLetterReason. */
  public static final String REASON_HEADER = "x-seckill-reason";

  /** Header of a message in {@link #DEAD_QUEUE}: text, one line. */
  public static final String DETAIL_HEADER = "x-seckill-detail";

  /**
   * Header of a message in {@link #DEAD_QUEUE}: the routing key with which an operator's replay
   * publishes it to {@link #ORDERS_EXCHANGE}.
   */
  public static final String ROUTING_KEY_HEADER = "x-seckill-routing-key";

  public static final int ORDER_QUEUES = 4;

  /**
   * Higher than any real count: the consumer counts attempts itself, and brokers differ in what
   * counts as a delivery. RabbitMQ 4 drops a message after 20 deliveries by default; -1 means no
   * limit only from 4.0 on.
   */
  private static final int DELIVERY_LIMIT = 1_000_000;

  private BrokerTopology() {}

  /**
   * Orders of one SKU share a partition, and so a queue: one consumer receives them and can store
   * them in one batch.
   */
  public static String routingKey(int partition) {
    return Integer.toString(partition % ORDER_QUEUES);
  }

  /** Whether {@link #ORDERS_EXCHANGE} routes this key to a queue. */
  public static boolean isRoutingKey(String key) {
    return IntStream.range(0, ORDER_QUEUES).anyMatch(queue -> routingKey(queue).equals(key));
  }

  /** {@code index} is 0..3. */
  public static String orderQueue(int index) {
    return ORDERS_EXCHANGE + "." + index;
  }

  /**
   * Declares everything.
   *
   * @throws IOException when the broker refuses or is unavailable; the channel is then closed
   */
  public static void declare(Channel channel) throws IOException {
    try {
      declareAll(channel);
    } catch (IOException e) {
      if (e.getCause() instanceof ShutdownSignalException signal
          && signal.getReason() instanceof AMQP.Channel.Close close
          && close.getReplyCode() == AMQP.PRECONDITION_FAILED) {
        throw otherArguments(close.getReplyText(), e);
      }
      throw e;
    }
  }

  /** Has no cause: logs show the root cause only, and this message is the one to read. */
  private static IOException otherArguments(String difference, IOException failure) {
    IOException readable =
        new IOException(
            "RabbitMQ has a queue of another release, see \"Queues of another release\" in"
                + " docs/operations.md: "
                + difference);
    readable.addSuppressed(failure);
    return readable;
  }

  private static void declareAll(Channel channel) throws IOException {
    channel.exchangeDeclare(ORDERS_EXCHANGE, BuiltinExchangeType.DIRECT, true);
    channel.exchangeDeclare(DEAD_EXCHANGE, BuiltinExchangeType.DIRECT, true);
    channel.queueDeclare(DEAD_QUEUE, true, false, false, deadQueueArguments());
    channel.queueBind(DEAD_QUEUE, DEAD_EXCHANGE, DEAD_ROUTING_KEY);
    for (int i = 0; i < ORDER_QUEUES; i++) {
      channel.queueDeclare(orderQueue(i), true, false, false, orderQueueArguments());
      channel.queueBind(orderQueue(i), ORDERS_EXCHANGE, routingKey(i));
    }
  }

  /** A message that the broker drops from this queue is lost. */
  private static Map<String, Object> deadQueueArguments() {
    return Map.of("x-queue-type", "quorum", "x-delivery-limit", DELIVERY_LIMIT);
  }

  /** Dead-lettering by the broker itself is the last resort, and must not lose the order either. */
  private static Map<String, Object> orderQueueArguments() {
    return Map.of(
        "x-queue-type",
        "quorum",
        "x-single-active-consumer",
        true,
        "x-delivery-limit",
        DELIVERY_LIMIT,
        "x-dead-letter-exchange",
        DEAD_EXCHANGE,
        "x-dead-letter-routing-key",
        DEAD_ROUTING_KEY,
        "x-dead-letter-strategy",
        "at-least-once",
        "x-overflow",
        "reject-publish");
  }
}
