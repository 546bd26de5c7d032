package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/**
 * Orders settled per second of each SKU, as this gateway's reads of Redis show them: between two
 * reads at least a second apart. Times are Redis's clock, Unix ms. Thread-safe.
 */
final class SettleRates {

  private static final long SHORTEST_MS = 1_000;

  /** A sale that settles nothing for this long has no rate. */
  private static final long LONGEST_MS = 15_000;

  private static final int MOST_SKUS = 10_000;

  private final Cache<Long, Mark> marks = Caffeine.newBuilder().maximumSize(MOST_SKUS).build();

  /**
   * The start of the interval that is being measured, and the rate of the one before; 0 when
   * unknown.
   */
  private record Mark(long settled, long atMs, double rate) {

    Mark next(long settledNow, long nowMs) {
      long tookMs = nowMs - atMs;
      if (tookMs <= 0 && tookMs > -SHORTEST_MS) {
        return this; // a late reading, not a clock set back
      }
      if (settledNow < settled || tookMs > LONGEST_MS) {
        return new Mark(settledNow, nowMs, 0);
      }
      return settledNow == settled || tookMs < SHORTEST_MS
          ? this
          : new Mark(settledNow, nowMs, (settledNow - settled) * 1_000.0 / tookMs);
    }
  }

  void read(long skuId, long settled, long nowMs) {
    marks
        .asMap()
        .merge(skuId, new Mark(settled, nowMs, 0), (last, first) -> last.next(settled, nowMs));
  }

  /** Expected time in ms until as many orders are settled; -1 when the rate is unknown. */
  long expectedMs(long skuId, long orders) {
    Mark mark = marks.getIfPresent(skuId);
    return mark == null || mark.rate == 0 ? -1 : (long) Math.ceil(orders * 1_000 / mark.rate);
  }
}
