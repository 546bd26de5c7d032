package io.seckill.support.contract;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import java.time.Instant;
import java.util.Collection;

/**
 * A row of {@code products}, as the internal port and the admin port return it.
 *
 * @param stock units still sellable
 * @param initialStock opening stock + added - withdrawn
 * @param limitPerUser units; 1 for ONE_PER_USER, 0 for UNLIMITED
 * @param decides MYSQL for a strong sale, and for a sale of Redis in a fallback
 * @param fallback how far the sale is in one, NO for a sale in none
 * @param stateVersion number of changes of the state so far; of a strong sale, also of its stock
 *     and closing time
 * @param epoch raised by every preheat, 0 before the first
 * @param lastSeq highest admission sequence stored, or the number from which a rebuild continues
 * @param settled orders settled, counted on the same scale as lastSeq
 * @param shards parts that the SKU is sold in, each a row of its own (docs/adr/0028); 1 for none
 * @param version number of operators' changes of the product and its state so far
 */
public record ProductRow(
    long skuId,
    String name,
    long priceCents,
    long stock,
    long initialStock,
    PurchasePolicy policy,
    int limitPerUser,
    Decider decides,
    String fallback,
    Instant opensAt,
    Instant closesAt,
    SaleState state,
    long stateVersion,
    long epoch,
    long lastSeq,
    long settled,
    int shards,
    long version) {

  /** Not of a SKU that is sold in shards: each of them is a sale of its own. */
  public boolean redisDecides() {
    return decides == Decider.REDIS && shards == 1;
  }

  /**
   * The row of a SKU with the units and orders of its shards, whose rows these are, and with the
   * store that decides them.
   */
  public ProductRow withUnitsOf(Collection<ProductRow> parts) {
    ProductRow decided =
        parts.stream().filter(part -> part.decides == Decider.MYSQL).findFirst().orElse(this);
    return new ProductRow(
        skuId,
        name,
        priceCents,
        stock + parts.stream().mapToLong(ProductRow::stock).sum(),
        initialStock,
        policy,
        limitPerUser,
        decided.decides,
        decided.fallback,
        opensAt,
        closesAt,
        state,
        stateVersion,
        epoch,
        lastSeq + parts.stream().mapToLong(ProductRow::lastSeq).sum(),
        settled + parts.stream().mapToLong(ProductRow::settled).sum(),
        shards,
        version);
  }
}
