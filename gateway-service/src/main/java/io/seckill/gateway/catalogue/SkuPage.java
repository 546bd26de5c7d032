package io.seckill.gateway.catalogue;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import java.time.Instant;

/**
 * The public view of a SKU.
 *
 * @param limitPerUser units; 0 for no limit
 * @param decides MYSQL for a strong sale
 * @param state of the sale in MySQL, NEW before the first preheat
 * @param open whether the sale is open in MySQL, and in Redis if that decides it
 * @param soldOut whether no unit is left to be admitted
 * @param nearlyGone whether at most a tenth of the units is left, but one at least
 */
record SkuPage(
    long skuId,
    String name,
    long priceCents,
    PurchasePolicy policy,
    int limitPerUser,
    Decider decides,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt,
    String state,
    @JsonIgnore boolean open,
    boolean soldOut,
    boolean nearlyGone) {

  /** Whether a purchase may succeed at this moment. */
  boolean onSaleAt(Instant now) {
    return open && !soldOut && !now.isBefore(opensAt) && now.isBefore(closesAt);
  }
}
