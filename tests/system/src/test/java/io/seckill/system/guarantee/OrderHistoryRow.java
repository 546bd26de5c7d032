package io.seckill.system.guarantee;

import java.util.Set;

/**
 * One row of MySQL's {@code orders}, with the columns that guarantees check.
 *
 * @param reason why it was rejected; empty when it was not
 * @param priceCents of one unit
 * @param admittedAtMs when Redis admitted it, by Redis's clock, ms since 1970
 */
public record OrderHistoryRow(
    String orderId,
    long userId,
    String requestId,
    int quantity,
    String status,
    String reason,
    long priceCents,
    long admittedAtMs) {

  private static final Set<String> OWNING = Set.of("CONFIRMED", "PAID");

  /** Whether the shopper owns its units: member of M in the invariants. */
  boolean owns() {
    return OWNING.contains(status);
  }
}
