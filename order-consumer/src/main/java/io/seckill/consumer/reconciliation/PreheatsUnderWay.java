package io.seckill.consumer.reconciliation;

import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Preheats that have not ended, since they were first seen. Redis has not lost their sales. */
final class PreheatsUnderWay {

  /** Gateways wait no longer for one; its process has most likely died then. */
  private static final Duration LONGEST = Duration.ofMinutes(5);

  private final LongSupplier nanoTime;
  private final Map<Long, FirstSeen> bySku = new ConcurrentHashMap<>();

  PreheatsUnderWay(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  private record FirstSeen(long epoch, long nanos) {}

  /** Whether the sale is being preheated, and for no longer than that may take. */
  boolean contain(ProductSnapshot sale, RedisSaleState seen) {
    if (!seen.isPreheatOf(sale)) {
      return false;
    }
    long now = nanoTime.getAsLong();
    FirstSeen first =
        bySku.merge(
            sale.skuId(),
            new FirstSeen(sale.epoch(), now),
            (known, seenNow) -> known.epoch() == seenNow.epoch() ? known : seenNow);
    return now - first.nanos() < LONGEST.toNanos();
  }

  void retain(Collection<Long> skus) {
    bySku.keySet().retainAll(skus);
  }
}
