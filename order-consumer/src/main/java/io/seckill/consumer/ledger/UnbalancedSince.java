package io.seckill.consumer.ledger;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Since when which SKUs do not balance, whether they are on sale or not; of more than {@value #MAX}
 * at once the ones seen longest ago are forgotten. Thread-safe.
 */
final class UnbalancedSince {

  static final int MAX = 10_000;

  private final Map<Long, Instant> since =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Instant> eldest) {
          return size() > MAX;
        }
      };

  /**
   * Notes what a reading says.
   *
   * @return when the SKU was first seen so and has not been seen balanced since; null when it
   *     balances
   */
  synchronized @Nullable Instant see(SkuLedger ledger) {
    if (ledger.balanced()) {
      since.remove(ledger.skuId());
      return null;
    }
    return since.computeIfAbsent(ledger.skuId(), sku -> ledger.readAt());
  }
}
