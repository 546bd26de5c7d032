package io.seckill.support.web;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import java.time.Instant;

/**
 * A row of {@code products}, as the internal port and the admin port return it.
 *
 * @param stock units still sellable
 * @param initialStock opening stock + added - withdrawn
 * @param limitPerUser units; 1 for ONE_PER_USER, 0 for UNLIMITED
 * @param phase who decides its purchases
 * @param stateVersion number of changes of the state so far; of a strong sale, also of its stock
 *     and closing time
 * @param epoch raised by every preheat, 0 before the first
 * @param lastSeq highest admission sequence stored, or the number from which a rebuild continues
 * @param settled orders settled, counted on the same scale as lastSeq
 */
public record ProductRow(
    long skuId,
    String name,
    long priceCents,
    long stock,
    long initialStock,
    PurchasePolicy policy,
    int limitPerUser,
    SalePhase phase,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt,
    SaleState state,
    long stateVersion,
    long epoch,
    long lastSeq,
    long settled) {

  /** MYSQL for a strong sale, and for a sale of Redis in a fallback. */
  @JsonProperty
  public Decider decides() {
    return phase.decider();
  }

  @JsonProperty
  String fallback() {
    return phase.fallback();
  }
}
