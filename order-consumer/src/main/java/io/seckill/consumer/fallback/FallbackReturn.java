package io.seckill.consumer.fallback;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Gives sales back to Redis, one after the other, and ends the fallback after the last. It has a
 * thread of its own: a sale may take as long as a barrier, and Redis may go away meanwhile. A sale
 * that cannot return is sold by MySQL on and tried again after a pause, after the others. The same
 * failure is logged once.
 */
@Component
class FallbackReturn {

  private static final Logger log = LoggerFactory.getLogger(FallbackReturn.class);

  /** Doubles with each failure: an attempt may stop the sale for a second. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  /** For orders in flight; doubles as well, so that one sale does not keep the others. */
  private static final Duration FIRST_WAIT = Duration.ofSeconds(5);

  private static final int MOST_DOUBLINGS = 5;

  private final FallbackTable table;
  private final FallbackSales sales;
  private final FallbackControl control;
  private final SaleReturn saleReturn;
  private final Map<Long, FailedReturn> failures = new ConcurrentHashMap<>();

  FallbackReturn(
      FallbackTable table, FallbackSales sales, FallbackControl control, SaleReturn saleReturn) {
    this.table = table;
    this.sales = sales;
    this.control = control;
    this.saleReturn = saleReturn;
  }

  /**
   * Why a sale has not returned.
   *
   * @param times in a row
   * @param atNanos System.nanoTime() of the last attempt
   */
  private record FailedReturn(String reason, int times, long atNanos) {

    boolean isOver() {
      return System.nanoTime() - atNanos >= doubled(FIRST_PAUSE, times - 1).toNanos();
    }
  }

  /** A time that doubles with each attempt to return a sale, up to a limit. */
  static Duration doubled(Duration first, int times) {
    return first.multipliedBy(1L << Math.min(times, MOST_DOUBLINGS));
  }

  @Bean
  Sweeper fallbackReturnSweeper() {
    return new Sweeper("fallback-return", FallbackControl.STEPS, this::round);
  }

  void round() {
    if (!control.isReturning()) {
      failures.clear();
      return;
    }
    for (long skuId : due()) {
      if (!isReturning() || Thread.currentThread().isInterrupted()) {
        return;
      }
      returnSale(skuId);
    }
    control.end();
  }

  private boolean isReturning() {
    return table.read().isIn(SalePhase.RETURNING);
  }

  /** Those first that have failed the fewest times. */
  private List<Long> due() {
    return sales.all().stream()
        .map(InFallback::skuId)
        .filter(sku -> !failures.containsKey(sku) || failures.get(sku).isOver())
        .sorted(Comparator.comparingInt(this::timesFailed))
        .toList();
  }

  private int timesFailed(long skuId) {
    FailedReturn last = failures.get(skuId);
    return last == null ? 0 : last.times();
  }

  /** Why the last attempt to return a sale has failed, "" when it has not. */
  String failure(long skuId) {
    FailedReturn last = failures.get(skuId);
    return last == null ? "" : last.reason();
  }

  private void returnSale(long skuId) {
    String reason;
    try {
      reason = saleReturn.returnToRedis(skuId, doubled(FIRST_WAIT, timesFailed(skuId))).orElse("");
    } catch (JedisException e) {
      reason = "Redis does not take it: " + e.getMessage();
    } catch (RuntimeException e) { // the others return
      reason = "It cannot be loaded: " + e;
    }
    String before = failure(skuId);
    if (reason.isEmpty()) {
      failures.remove(skuId);
      log.info("sku {}: Redis decides again", skuId);
      return;
    }
    failures.put(skuId, new FailedReturn(reason, timesFailed(skuId) + 1, System.nanoTime()));
    if (!reason.equals(before)) {
      log.warn("sku {}: cannot return to Redis yet, MySQL sells on: {}", skuId, reason);
    }
  }
}
