package io.seckill.relay.publish;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the outbox. An entry that is not a valid order message must neither block its lane
 * nor be lost: it goes to the dead-letter exchange, with the reason ({@link OutboundMessage}).
 *
 * @param body exactly as stored in Redis; must not be changed
 * @param message the order; null for an unreadable entry
 * @param defect why the entry is unreadable, else null
 * @param partition of the list that has the entry
 * @param onConfirm called by the lane's thread once the broker has confirmed this order; not called
 *     for an unreadable entry, nor when the lane loses track of the order
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record OutboundOrder(
    byte[] body,
    @Nullable OrderMessage message,
    @Nullable UnreadableMessageException defect,
    int partition,
    Consumer<OrderMessage> onConfirm) {

  /** Decodes an entry whose confirm only its lane waits for; never fails. */
  public static OutboundOrder of(byte[] body, int partition) {
    return of(body, partition, order -> {});
  }

  /** Decodes an entry; never fails. */
  public static OutboundOrder of(byte[] body, int partition, Consumer<OrderMessage> onConfirm) {
    try {
      return new OutboundOrder(body, OrderMessageCodec.decode(body), null, partition, onConfirm);
    } catch (UnreadableMessageException e) {
      return new OutboundOrder(body, null, e, partition, onConfirm);
    }
  }

  void confirmed() {
    if (message != null) {
      onConfirm.accept(message);
    }
  }

  boolean isReadable() {
    return message != null;
  }
}
