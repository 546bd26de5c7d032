package io.seckill.gateway.orders;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import org.jspecify.annotations.Nullable;

/**
 * An order read from Redis, with the progress of its SKU's queue.
 *
 * @param settled orders of the SKU settled, counted on the same scale as {@code record.seq()}
 * @param nowMs Redis's clock at the reading, Unix ms
 */
record RedisOrder(OrderId id, long skuId, AdmissionRecord record, long settled, long nowMs) {

  /**
   * Reads {@code sku|settled|record}, as the scripts reply. Returns null when the text is empty:
   * Redis does not have the order.
   */
  static @Nullable RedisOrder parse(OrderId id, String reply, long nowMs) {
    if (reply.isEmpty()) {
      return null;
    }
    String[] part = reply.split("\\|", 3);
    return new RedisOrder(
        id,
        Long.parseLong(part[0]),
        AdmissionRecord.parse(part[2]),
        Long.parseLong(part[1]),
        nowMs);
  }

  /** Place in the SKU's queue, from 1. */
  long position() {
    return Math.max(1, record.seq() - settled);
  }

  long ageMs() {
    return nowMs - record.admittedAt();
  }
}
