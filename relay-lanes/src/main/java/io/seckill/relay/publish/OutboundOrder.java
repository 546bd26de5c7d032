package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.order.UnsupportedVersionException;
import java.util.Arrays;
import java.util.Date;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the outbox, with the properties for publishing it. An entry that is not a valid
 * order message must neither block its lane nor be lost: it goes to the dead-letter exchange, with
 * the reason.
 */
public final class OutboundOrder {

  private static final String UNREADABLE = "UNREADABLE";
  private static final String UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION";

  private static final String APP_ID = "seckill-relay";
  private static final String TYPE = "order.v1";
  private static final int PERSISTENT = 2;

  /** As {@code max_message_size} in deploy/rabbitmq: a longer message would end the channel. */
  private static final int MAX_PUBLISHED_BYTES = 65_536;

  private final byte[] body;
  private final @Nullable OrderMessage message;
  private final @Nullable UnreadableMessageException defect;
  private final Consumer<OrderMessage> onConfirm;
  private final int partition;

  private OutboundOrder(
      byte[] body,
      @Nullable OrderMessage message,
      @Nullable UnreadableMessageException defect,
      Consumer<OrderMessage> onConfirm,
      int partition) {
    this.body = body;
    this.message = message;
    this.defect = defect;
    this.onConfirm = onConfirm;
    this.partition = partition;
  }

  /**
   * Decodes an entry; never fails.
   *
   * @param body exactly as stored in Redis; must not be changed afterwards
   * @param partition of the list that has the entry
   */
  public static OutboundOrder of(byte[] body, int partition) {
    return of(body, partition, order -> {});
  }

  /**
   * Decodes an entry, as {@link #of(byte[], int)}.
   *
   * @param onConfirm called by the lane's thread once the broker has confirmed this order; not
   *     called for an unreadable entry, nor when the lane loses track of the order
   */
  public static OutboundOrder of(byte[] body, int partition, Consumer<OrderMessage> onConfirm) {
    try {
      return new OutboundOrder(body, OrderMessageCodec.decode(body), null, onConfirm, partition);
    } catch (UnreadableMessageException e) {
      return new OutboundOrder(body, null, e, onConfirm, partition);
    }
  }

  void confirmed() {
    if (message != null) {
      onConfirm.accept(message);
    }
  }

  /** The entry as stored in Redis; must not be changed. */
  public byte[] body() {
    return body;
  }

  /** The message: the entry, or the beginning of an unreadable one that is too long. */
  byte[] published() {
    return body.length > MAX_PUBLISHED_BYTES ? Arrays.copyOf(body, MAX_PUBLISHED_BYTES) : body;
  }

  /** The order, or null for an unreadable entry. */
  public @Nullable OrderMessage message() {
    return message;
  }

  /** Why the entry is unreadable, or null. */
  @Nullable String defect() {
    return defect == null ? null : defect.getMessage();
  }

  String exchange() {
    return message == null ? BrokerTopology.DEAD_EXCHANGE : BrokerTopology.ORDERS_EXCHANGE;
  }

  String routingKey() {
    return message == null
        ? BrokerTopology.DEAD_ROUTING_KEY
        : BrokerTopology.routingKey(Partition.ofSku(message.skuId()));
  }

  /** The order id; for an unreadable entry an id derived from its content, the same every time. */
  String messageId() {
    return message == null ? UUID.nameUUIDFromBytes(body).toString() : message.orderId().toString();
  }

  private String reason() {
    return defect instanceof UnsupportedVersionException ? UNSUPPORTED_VERSION : UNREADABLE;
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
          .headers(
              Map.of(
                  BrokerTopology.REASON_HEADER,
                  reason(),
                  BrokerTopology.DETAIL_HEADER,
                  "outbox entry: " + defect(),
                  BrokerTopology.ROUTING_KEY_HEADER,
                  BrokerTopology.routingKey(partition)))
          .build();
    }
    properties.timestamp(new Date(message.admittedAt()));
    if (message.traceparent() != null) {
      properties.headers(Map.of("traceparent", message.traceparent()));
    }
    return properties.build();
  }
}
