package io.seckill.consumer.fallback;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.runtime.SqlFailure;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Lets MySQL sell on a sale whose return has stopped it for too long: the process that loads it may
 * hang, and keeps its lock for as long as MySQL keeps a silent connection. If that process goes on
 * later, its next step fails, because the sale has another epoch. For one thread.
 */
final class StoppedReturns {

  private static final Logger log = LoggerFactory.getLogger(StoppedReturns.class);

  /**
   * The changes that are left take a second. Doubles with each attempt, should they take longer.
   */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private final FallbackSales sales;
  private final LongSupplier nanoTime;

  /** When each sale that is stopped was first seen so, by System.nanoTime. */
  private final Map<Long, Long> since = new HashMap<>();

  /** How often each sale was stopped for too long. */
  private final Map<Long, Integer> resumed = new HashMap<>();

  StoppedReturns(FallbackSales sales, LongSupplier nanoTime) {
    this.sales = sales;
    this.nanoTime = nanoTime;
  }

  void resume() {
    List<InFallback> all = sales.all();
    resumed.keySet().retainAll(all.stream().map(InFallback::skuId).toList());
    List<Long> stopped =
        all.stream()
            .filter(sale -> sale.phase() == SalePhase.RETURNING)
            .map(InFallback::skuId)
            .toList();
    since.keySet().retainAll(stopped);
    long now = nanoTime.getAsLong();
    for (long skuId : stopped) {
      if (now - since.computeIfAbsent(skuId, id -> now) >= longest(skuId).toNanos()) {
        resume(skuId);
      }
    }
  }

  private Duration longest(long skuId) {
    return FallbackReturn.doubled(LONGEST, resumed.getOrDefault(skuId, 0));
  }

  /** A row that the loading keeps locked delays no other sale. */
  private void resume(long skuId) {
    try {
      boolean isResumed = sales.resumeStopped(skuId);
      since.remove(skuId);
      if (isResumed) {
        resumed.merge(skuId, 1, Integer::sum);
        log.warn("sku {}: its loading does not end, MySQL sells on", skuId);
      }
    } catch (DataAccessException e) {
      SqlFailure.throwIfAway(e);
      log.warn("sku {}: its loading does not end: {}", skuId, e.toString());
    }
  }
}
