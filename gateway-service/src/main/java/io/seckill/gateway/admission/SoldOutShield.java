package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Caches for a short time that a SKU's stock was 0. Only a purchase without a key from the shopper
 * may be refused by it: such a purchase cannot be a repeat. Bounded: purchases of SKUs that do not
 * fit go to Redis.
 */
final class SoldOutShield {

  private static final int MAX_SKUS = 10_000;

  private final long lifetimeNanos;
  private final Cache<Long, SoldOut> soldOut =
      Caffeine.newBuilder().maximumSize(MAX_SKUS).executor(Runnable::run).build();

  /**
   * By System.nanoTime().
   *
   * @param askedNanos before Redis was queried
   * @param seenNanos after its answer; of answers that follow each other the first
   */
  private record SoldOut(long askedNanos, long seenNanos) {}

  /** An entry holds for this long after Redis was queried; zero switches the shield off. */
  SoldOutShield(Duration lifetime) {
    this.lifetimeNanos = lifetime.toNanos();
  }

  boolean covers(long skuId) {
    return isValid(soldOut.getIfPresent(skuId));
  }

  /** Whether it has covered the SKU since this moment of System.nanoTime(), or longer. */
  boolean coversSince(long skuId, long nanos) {
    SoldOut entry = soldOut.getIfPresent(skuId);
    return entry != null && isValid(entry) && entry.seenNanos() - nanos <= 0;
  }

  private boolean isValid(@Nullable SoldOut entry) {
    return entry != null && System.nanoTime() - entry.askedNanos() < lifetimeNanos;
  }

  /**
   * Records that stock was 0 at a call that began at {@code askedNanos} of System.nanoTime(). Only
   * the first refusal of a reply updates the cache; the others are cheap.
   */
  void raise(long skuId, long askedNanos) {
    SoldOut before = soldOut.getIfPresent(skuId);
    if (before == null || askedNanos - before.askedNanos() > 0) {
      long seenNanos = before != null && isValid(before) ? before.seenNanos() : System.nanoTime();
      soldOut.put(skuId, new SoldOut(askedNanos, seenNanos));
    }
  }
}
