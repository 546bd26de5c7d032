package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import java.time.Duration;
import java.util.BitSet;
import java.util.Map;

/**
 * Loads the orders that hold no units any more, as far as compensate.lua would still keep them: for
 * a repeat of their requests, {@link #KEPT} and at most {@value #MOST} of a bucket. For one thread.
 */
final class EndedOrders {

  /** As in compensate.lua. */
  static final Duration KEPT = Duration.ofHours(1);

  /** As in compensate.lua. */
  static final int MOST = 128;

  private final BucketWriter writer;
  private final long afterMs;
  private final int buckets;

  /** By bucket; some hundred kilobytes for ten million units. */
  private final short[] loaded;

  /** Buckets with more than the last {@link #finish} has written. */
  private final BitSet changed = new BitSet();

  /**
   * @param nowMs MySQL's clock, Unix ms
   */
  EndedOrders(BucketWriter writer, int buckets, long nowMs) {
    this.writer = writer;
    this.afterMs = nowMs - KEPT.toMillis();
    this.buckets = buckets;
    this.loaded = new short[buckets];
  }

  /** Writes the orders of a page that Redis is to have. */
  void write(Map<OrderId, AdmissionRecord> page) {
    page.forEach(
        (id, order) -> {
          if (!order.status().hasEnded()) {
            writer.order(id, order);
          } else if (order.changedAt() > afterMs && isBelowTheMost(order)) {
            ended(id, order);
          }
        });
  }

  /** Writes an order that may have been written before, when it had not ended. */
  void rewrite(OrderId id, AdmissionRecord order) {
    if (!order.status().hasEnded()) {
      writer.order(id, order);
    } else if (isBelowTheMost(order)) {
      ended(id, order);
    } else {
      writer.noOrder(id, order);
    }
  }

  private void ended(OrderId id, AdmissionRecord order) {
    int bucket = bucketOf(order);
    writer.order(id, order);
    writer.ended(id, order, ++loaded[bucket]);
    changed.set(bucket);
  }

  private boolean isBelowTheMost(AdmissionRecord order) {
    return loaded[bucketOf(order)] < MOST;
  }

  private int bucketOf(AdmissionRecord order) {
    return RedisKeys.bucketOf(order.userId(), buckets);
  }

  /** Writes how many there are; call it after the last page, and after rewriting others. */
  void finish() {
    changed.stream().forEach(bucket -> writer.endedRange(bucket, loaded[bucket]));
    changed.clear();
  }
}
