package io.seckill.consumer.fallback;

import io.seckill.consumer.consistency.Reconciler;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Gives sales back to Redis, one after the other, and ends the fallback after the last. It has a
 * thread of its own: a sale may take as long as a barrier, and Redis may go away meanwhile. A sale
 * that is not done is tried again in the next round; a failure is logged once, until it is another
 * one.
 */
@Component
class FallbackReturn {

  private static final Logger log = LoggerFactory.getLogger(FallbackReturn.class);

  private final FallbackTable table;
  private final FallbackSales sales;
  private final FallbackControl control;
  private final Reconciler reconciler;
  private final Map<Long, String> failures = new HashMap<>();

  FallbackReturn(
      FallbackTable table, FallbackSales sales, FallbackControl control, Reconciler reconciler) {
    this.table = table;
    this.sales = sales;
    this.control = control;
    this.reconciler = reconciler;
  }

  void round() {
    if (!isReturning()) {
      return;
    }
    for (InFallback sale : sales.all()) {
      if (!isReturning() || Thread.currentThread().isInterrupted()) {
        return;
      }
      giveBack(sale.skuId());
    }
    control.end();
  }

  private boolean isReturning() {
    return table.read().isIn(FallbackState.RETURNING);
  }

  private void giveBack(long skuId) {
    String failure;
    try {
      failure = reconciler.returnToRedis(skuId).orElse("");
    } catch (JedisException e) {
      failure = "Redis does not answer: " + e.getMessage();
    }
    if (failure.isEmpty()) {
      failures.remove(skuId);
      log.info("sku {}: Redis decides again", skuId);
    } else if (!failure.equals(failures.put(skuId, failure))) {
      log.warn("sku {}: cannot return to Redis yet: {}", skuId, failure);
    }
  }
}
