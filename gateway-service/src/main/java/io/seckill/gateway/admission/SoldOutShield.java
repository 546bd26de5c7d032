package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;

/**
 * Caches for a short time that a SKU's stock was 0, so that a sold-out sale costs Redis next to
 * nothing. An entry expires {@code lifetime} after Redis was queried, and ends earlier as soon as a
 * message or a reply says that stock is back. Bounded: purchases of SKUs that do not fit go to
 * Redis.
 */
final class SoldOutShield {

  private static final int MAX_SKUS = 10_000;

  private final long lifetimeNanos;
  private final Cache<Long, News> latest =
      Caffeine.newBuilder().maximumSize(MAX_SKUS).executor(Runnable::run).build();

  /**
   * Latest information on a SKU's stock.
   *
   * @param atNanos when Redis was queried, or when it reported that stock is back
   */
  private record News(boolean soldOut, long atNanos) {

    /** Returns whichever of the two describes the later moment. */
    News orLater(News other) {
      return other.atNanos - atNanos > 0 ? other : this;
    }
  }

  /**
   * @param lifetime zero switches the shield off
   */
  SoldOutShield(Duration lifetime) {
    this.lifetimeNanos = lifetime.toNanos();
  }

  boolean covers(long skuId) {
    if (lifetimeNanos == 0) {
      return false;
    }
    News news = latest.getIfPresent(skuId);
    return news != null && news.soldOut && System.nanoTime() - news.atNanos < lifetimeNanos;
  }

  /**
   * Records that stock was 0. Has no effect when stock has come back since Redis was queried. Only
   * the first refusal of a reply updates the cache; the others are cheap.
   *
   * @param askedNanos System.nanoTime() before Redis was queried
   */
  void raise(long skuId, long askedNanos) {
    News known = latest.getIfPresent(skuId);
    boolean sameAnswer = known != null && known.atNanos == askedNanos;
    if (lifetimeNanos > 0 && !sameAnswer) {
      latest.asMap().merge(skuId, new News(true, askedNanos), News::orLater);
    }
  }

  /**
   * Records that Redis reports stock again, or that the outcome does not depend on stock alone. The
   * record keeps an older reply that arrives later from raising the shield again.
   */
  void lift(long skuId) {
    latest.put(skuId, new News(false, System.nanoTime()));
  }
}
