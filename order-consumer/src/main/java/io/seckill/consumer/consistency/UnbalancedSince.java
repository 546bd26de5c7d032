package io.seckill.consumer.consistency;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records since when each unbalanced SKU has not balanced, whether it is on sale or not. Holds at
 * most {@value #MAX} SKUs and then removes the one read longest ago. Thread-safe.
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
   * Records a reading.
   *
   * @return time of the first unbalanced reading after which none was balanced; null when the SKU
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
