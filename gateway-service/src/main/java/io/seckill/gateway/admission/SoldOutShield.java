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
  private final Cache<Long, News> latest =
      Caffeine.newBuilder().maximumSize(MAX_SKUS).executor(Runnable::run).build();

  /**
   * What was heard last of a SKU's stock.
   *
   * @param atNanos when Redis was asked, or told that stock is back
   */
  private record News(boolean soldOut, long atNanos) {

    /** Of an answer and a message the one that is about the later moment. */
    News orLater(News other) {
      return other.atNanos - atNanos > 0 ? other : this;
    }
  }

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
    News news = latest.getIfPresent(skuId);
    return news != null && news.soldOut && System.nanoTime() - news.atNanos < lifetimeNanos;
  }

  /**
   * Stock was 0. Without effect when it has come back since Redis was asked, and cheap for all
   * refusals of one answer but the first.
   *
   * @param askedNanos System.nanoTime() before Redis was asked
   */
  void raise(long skuId, long askedNanos) {
    News known = latest.getIfPresent(skuId);
    boolean sameAnswer = known != null && known.atNanos == askedNanos;
    if (lifetimeNanos > 0 && !sameAnswer) {
      latest.asMap().merge(skuId, new News(true, askedNanos), News::orLater);
    }
  }

  /**
   * Redis says that stock is back, or that something else than stock decides. Remembered, so that
   * an older answer still on its way does not raise the shield again.
   */
  void lift(long skuId) {
    latest.put(skuId, new News(false, System.nanoTime()));
  }
}
