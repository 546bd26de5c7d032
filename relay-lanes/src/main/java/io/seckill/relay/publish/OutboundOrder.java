package io.seckill.relay.publish;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the outbox. An entry that is not a valid order message must neither block its lane
 * nor be lost: it goes to the dead-letter exchange, with the reason ({@link OutboundMessage}).
 */
public final class OutboundOrder {

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

  /** The order, or null for an unreadable entry. */
  public @Nullable OrderMessage message() {
    return message;
  }

  boolean isReadable() {
    return message != null;
  }

  /** Why the entry is unreadable, or null. */
  @Nullable UnreadableMessageException defect() {
    return defect;
  }

  /** Of the list that has the entry. */
  int partition() {
    return partition;
  }
}
