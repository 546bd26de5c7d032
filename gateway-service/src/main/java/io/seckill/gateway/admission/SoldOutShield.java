package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;

/**
 * Caches for a short time that a SKU's stock was 0. Only a purchase without a key from the shopper
 * may be refused by it: such a purchase cannot be a repeat. Bounded: purchases of SKUs that do not
 * fit go to Redis.
 */
final class SoldOutShield {

  private static final int MAX_SKUS = 10_000;

  private final long lifetimeNanos;
  private final Cache<Long, Long> soldOutAt =
      Caffeine.newBuilder().maximumSize(MAX_SKUS).executor(Runnable::run).build();

  /** An entry holds for this long after Redis was queried; zero switches the shield off. */
  SoldOutShield(Duration lifetime) {
    this.lifetimeNanos = lifetime.toNanos();
  }

  boolean covers(long skuId) {
    Long at = soldOutAt.getIfPresent(skuId);
    return at != null && System.nanoTime() - at < lifetimeNanos;
  }

  /**
   * Records that stock was 0 at a call that began at {@code askedNanos} of System.nanoTime(). Only
   * the first refusal of a reply updates the cache; the others are cheap.
   */
  void raise(long skuId, long askedNanos) {
    Long at = soldOutAt.getIfPresent(skuId);
    if (at == null || askedNanos - at > 0) {
      soldOutAt.put(skuId, askedNanos);
    }
  }
}
