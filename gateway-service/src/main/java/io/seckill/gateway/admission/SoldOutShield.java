package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;

/**
 * Remembers for a moment that a SKU's stock was 0, so that a sold-out sale costs Redis next to
 * nothing. It never outlives {@code lifetime} from the moment Redis was asked, and is lifted as
 * soon as anything tells that stock is back. Bounded: SKUs that do not fit go to Redis.
 */
final class SoldOutShield {

  private static final int MAX_SKUS = 10_000;

  private final long lifetimeNanos;
  private final Cache<Long, Long> seenAtNanos = Caffeine.newBuilder().maximumSize(MAX_SKUS).build();

  /**
   * @param lifetime zero for no shield at all
   */
  SoldOutShield(Duration lifetime) {
    this.lifetimeNanos = lifetime.toNanos();
  }

  boolean covers(long skuId) {
    if (lifetimeNanos == 0) {
      return false;
    }
    Long seenAt = seenAtNanos.getIfPresent(skuId);
    return seenAt != null && System.nanoTime() - seenAt < lifetimeNanos;
  }

  /**
   * Stock was 0.
   *
   * @param askedNanos System.nanoTime() before Redis was asked
   */
  void raise(long skuId, long askedNanos) {
    if (lifetimeNanos > 0) {
      seenAtNanos.put(skuId, askedNanos);
    }
  }

  /** A reply of Redis says that stock is back, or that something else than stock decides. */
  void lift(long skuId) {
    seenAtNanos.invalidate(skuId);
  }
}
