package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import java.util.Date;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the outbox with what publishing it needs. An entry that is not a valid order message
 * must neither block its lane nor be lost: it goes to the dead-letter exchange, with the reason.
 */
public final class OutboundOrder {

  /** Headers of an unreadable entry, as order-consumer reads them from the dead queue. */
  public static final String REASON_HEADER = "x-seckill-reason";

  public static final String DETAIL_HEADER = "x-seckill-detail";

  private static final String UNREADABLE = "UNREADABLE";

  private static final String APP_ID = "seckill-relay";
  private static final String TYPE = "order.v1";
  private static final int PERSISTENT = 2;

  private final byte[] body;
  private final @Nullable OrderMessage message;
  private final @Nullable String defect;

  private OutboundOrder(byte[] body, @Nullable OrderMessage message, @Nullable String defect) {
    this.body = body;
    this.message = message;
    this.defect = defect;
  }

  /**
   * Reads an entry; never fails.
   *
   * @param body exactly as Redis holds it, and as it is published; not to be changed afterwards
   */
  public static OutboundOrder of(byte[] body) {
    try {
      return new OutboundOrder(body, OrderMessageCodec.decode(body), null);
    } catch (UnreadableMessageException e) {
      return new OutboundOrder(body, null, String.valueOf(e.getMessage()));
    }
  }

  /** The entry as it lies in Redis; not to be changed. */
  public byte[] body() {
    return body;
  }

  /** The order, or null for an unreadable entry. */
  public @Nullable OrderMessage message() {
    return message;
  }

  /** Why the entry is unreadable, or null. */
  public @Nullable String defect() {
    return defect;
  }

  String exchange() {
    return message == null ? BrokerTopology.DEAD_EXCHANGE : BrokerTopology.ORDERS_EXCHANGE;
  }

  String routingKey() {
    return message == null
        ? BrokerTopology.DEAD_ROUTING_KEY
        : BrokerTopology.routingKey(Partition.ofSku(message.skuId()));
  }

  /** The order id; an unreadable entry has an id made of its content, the same at every attempt. */
  String messageId() {
    return message == null ? UUID.nameUUIDFromBytes(body).toString() : message.orderId().toString();
  }

  @SuppressWarnings("JavaUtilDate") // the client's type for timestamps
  AMQP.BasicProperties properties() {
    AMQP.BasicProperties.Builder properties =
        new AMQP.BasicProperties.Builder()
            .messageId(messageId())
            .deliveryMode(PERSISTENT)
            .contentType("application/json")
            .appId(APP_ID)
            .type(TYPE);
    if (message == null) {
      return properties
          .timestamp(new Date())
          .headers(Map.of(REASON_HEADER, UNREADABLE, DETAIL_HEADER, "outbox entry: " + defect))
          .build();
    }
    properties.timestamp(new Date(message.admittedAt()));
    if (message.traceparent() != null) {
      properties.headers(Map.of("traceparent", message.traceparent()));
    }
    return properties.build();
  }
}
