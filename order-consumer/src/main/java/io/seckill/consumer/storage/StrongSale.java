package io.seckill.consumer.storage;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.StrongDecision.Outcome;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * A strong sale, or one that MySQL decides in a fallback, as one read without a lock has found it.
 *
 * @param phase decider of its purchases now: MySQL, unless the sale is changing
 * @param version number of changes of the sale; a decision from this read is valid only while MySQL
 *     still has it
 * @param reserved of the stock: for orders that Redis may have promised before
 */
record StrongSale(
    SaleRules rules,
    SalePhase phase,
    int maxPerOrder,
    SaleState state,
    long version,
    long epoch,
    long lastSeq,
    long stock,
    long reserved,
    Instant opensAt,
    Instant closesAt,
    Instant now) {

  private static final String READ =
      "SELECT price_cents, policy, limit_per_user, max_per_order, state, state_version, epoch,"
          + " last_seq, stock, reserved_units, opens_at, closes_at, UTC_TIMESTAMP(3) AS now_at,"
          + " sale_phase FROM products WHERE sku_id = ? AND state <> 'NEW'";

  /** Returns null when there is no such product, or it was never preheated. */
  static @Nullable StrongSale find(JdbcOperations jdbc, long sku) {
    List<StrongSale> found =
        jdbc.query(
            READ,
            (row, number) ->
                new StrongSale(
                    SaleRules.of(
                        sku,
                        row.getLong(1),
                        PurchasePolicy.valueOf(row.getString(2)),
                        row.getInt(3)),
                    SalePhase.valueOf(row.getString(14)),
                    row.getInt(4),
                    SaleState.valueOf(row.getString(5)),
                    row.getLong(6),
                    row.getLong(7),
                    row.getLong(8),
                    row.getLong(9),
                    row.getLong(10),
                    UtcColumn.instant(row, "opens_at"),
                    UtcColumn.instant(row, "closes_at"),
                    UtcColumn.instant(row, "now_at")),
            sku);
    return found.isEmpty() ? null : found.get(0);
  }

  /** Why the sale takes no purchase now, in the order of {@code admit.lua}; null when it does. */
  @Nullable Outcome closed() {
    if (state == SaleState.CLOSED || !now.isBefore(closesAt)) {
      return Outcome.CLOSED;
    } else if (state == SaleState.PAUSED) {
      return Outcome.PAUSED;
    }
    return state == SaleState.OPEN && !now.isBefore(opensAt) ? null : Outcome.NOT_OPEN;
  }
}
