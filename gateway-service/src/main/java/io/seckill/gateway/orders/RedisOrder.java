package io.seckill.gateway.orders;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import org.jspecify.annotations.Nullable;

/**
 * An order read from Redis, with the progress of its SKU's queue.
 *
 * @param settled orders of the SKU settled, counted on the same scale as {@code record.seq()}
 * @param rate orders settled per second lately; 0 when unknown
 * @param rateAt Redis's clock when the rate was written, Unix ms; 0 when unknown
 * @param nowMs Redis's clock at the reading, Unix ms
 */
record RedisOrder(
    OrderId id,
    long skuId,
    AdmissionRecord record,
    long settled,
    double rate,
    long rateAt,
    long nowMs) {

  /**
   * Reads {@code sku|settled|rate|rateAt|record}, as the scripts reply.
   *
   * @return null when the text is empty: Redis does not have the order
   */
  static @Nullable RedisOrder parse(OrderId id, String reply, long nowMs) {
    if (reply.isEmpty()) {
      return null;
    }
    String[] part = reply.split("\\|", 5);
    return new RedisOrder(
        id,
        Long.parseLong(part[0]),
        AdmissionRecord.parse(part[4]),
        Long.parseLong(part[1]),
        part[2].isEmpty() ? 0 : Double.parseDouble(part[2]),
        part[3].isEmpty() ? 0 : Long.parseLong(part[3]),
        nowMs);
  }

  /** Place in the SKU's queue, from 1. */
  long position() {
    return Math.max(1, record.seq() - settled);
  }

  /**
   * Expected wait in ms, or -1 when the rate is unknown or too old.
   *
   * @param maxAgeMs age beyond which a rate is not used
   */
  long expectedWaitMs(long maxAgeMs) {
    if (rate <= 0 || nowMs - rateAt > maxAgeMs) {
      return -1;
    }
    return (long) Math.ceil(position() * 1000 / rate);
  }

  long ageMs() {
    return nowMs - record.admittedAt();
  }
}
