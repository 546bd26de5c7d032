package io.seckill.common.sale;

import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;

/**
 * The part of a sale's data in MySQL that Redis needs.
 *
 * @param limitPerUser units; ignored for UNLIMITED
 * @param epoch epoch of this loading, higher than any before
 * @param stock units to put on sale
 * @param initialStock units ever put on sale, which decides how many buckets there are
 * @param lastSeq highest admission sequence stored, or the value from which a rebuild continued it
 */
public record SaleToLoad(
    long skuId,
    PurchasePolicy policy,
    int limitPerUser,
    Instant opensAt,
    Instant closesAt,
    long epoch,
    long stock,
    long initialStock,
    long lastSeq) {

  /** Units of one bucket at most, so that hashes stay packed (facts.md 13). */
  private static final int UNITS_PER_BUCKET = 64;

  /** Buckets that keep hashes packed when every unit ever put on sale becomes an order. */
  public int buckets() {
    long units = Math.max(stock, initialStock);
    return (int) Math.max(1, (units + UNITS_PER_BUCKET - 1) / UNITS_PER_BUCKET);
  }
}
