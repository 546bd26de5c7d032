package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnsupportedVersionException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One message of the broker: up to {@value OrderLines#MOST_ORDERS} orders of one queue that are
 * published at once, or one unreadable entry, which becomes a dead letter.
 *
 * @param orders at least one; the only one of a dead letter
 */
record OutboundMessage(List<OutboundOrder> orders) {

  private static final String UNREADABLE = "UNREADABLE";
  private static final String UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION";

  private static final String APP_ID = "seckill-relay";
  private static final String ONE_ORDER = "order.v1";
  private static final String ORDERS = "orders.v1";
  private static final int PERSISTENT = 2;

  /** As {@code max_message_size} in deploy/rabbitmq: a longer message would end the channel. */
  private static final int MAX_BYTES = 65_536;

  /** Puts orders that follow each other into one message while they have one queue and fit. */
  static List<OutboundMessage> of(List<OutboundOrder> orders) {
    List<OutboundMessage> messages = new ArrayList<>();
    int start = 0;
    int bytes = 0;
    for (int i = 0; i < orders.size(); i++) {
      bytes += orders.get(i).body().length + 1;
      boolean fits =
          i - start < OrderLines.MOST_ORDERS
              && bytes <= MAX_BYTES
              && mayShare(orders.get(i))
              && mayShare(orders.get(start))
              && routingKey(orders.get(i)).equals(routingKey(orders.get(start)));
      if (i > start && !fits) {
        messages.add(new OutboundMessage(orders.subList(start, i)));
        start = i;
        bytes = orders.get(i).body().length + 1;
      }
    }
    if (start < orders.size()) {
      messages.add(new OutboundMessage(orders.subList(start, orders.size())));
    }
    return messages;
  }

  private static boolean mayShare(OutboundOrder order) {
    return order.isReadable() && OrderLines.isLine(order.body());
  }

  private OutboundOrder first() {
    return orders.get(0);
  }

  String exchange() {
    return first().isReadable() ? BrokerTopology.ORDERS_EXCHANGE : BrokerTopology.DEAD_EXCHANGE;
  }

  String routingKey() {
    return routingKey(first());
  }

  private static String routingKey(OutboundOrder order) {
    return order.message() == null
        ? BrokerTopology.DEAD_ROUTING_KEY
        : BrokerTopology.routingKey(Partition.ofSku(order.message().skuId()));
  }

  /** The entries as stored in Redis, or the beginning of an unreadable one that is too long. */
  byte[] body() {
    if (orders.size() > 1) {
      return OrderLines.join(orders.stream().map(OutboundOrder::body).toList());
    }
    byte[] entry = first().body();
    return entry.length > MAX_BYTES ? Arrays.copyOf(entry, MAX_BYTES) : entry;
  }

  /**
   * The id of the first order; for an unreadable entry an id derived from its content, the same
   * every time.
   */
  String id() {
    OrderMessage order = first().message();
    return order == null
        ? UUID.nameUUIDFromBytes(first().body()).toString()
        : order.orderId().toString();
  }

  @SuppressWarnings("JavaUtilDate") // the client's type for timestamps
  AMQP.BasicProperties properties() {
    AMQP.BasicProperties.Builder properties =
        new AMQP.BasicProperties.Builder()
            .messageId(id())
            .deliveryMode(PERSISTENT)
            .contentType(orders.size() == 1 ? "application/json" : "application/x-ndjson")
            .appId(APP_ID)
            .type(orders.size() == 1 ? ONE_ORDER : ORDERS);
    OrderMessage order = first().message();
    if (order == null) {
      return properties.timestamp(new Date()).headers(deadLetter()).build();
    }
    properties.timestamp(new Date(order.admittedAt()));
    if (orders.size() == 1 && order.traceparent() != null) {
      properties.headers(Map.of("traceparent", order.traceparent()));
    }
    return properties.build();
  }

  private Map<String, Object> deadLetter() {
    boolean isOfLaterRelease = first().defect() instanceof UnsupportedVersionException;
    return Map.of(
        BrokerTopology.REASON_HEADER,
        isOfLaterRelease ? UNSUPPORTED_VERSION : UNREADABLE,
        BrokerTopology.DETAIL_HEADER,
        "outbox entry: " + defect(),
        BrokerTopology.ROUTING_KEY_HEADER,
        BrokerTopology.routingKey(first().partition()));
  }

  /** Why it becomes a dead letter; null of orders. */
  @Nullable String defect() {
    return first().defect() == null ? null : first().defect().getMessage();
  }
}
