package io.seckill.consumer.catalogue;

import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;

/**
 * A product as the internal API shows it; columns as in the table.
 *
 * @param stock units still sellable
 * @param initialStock opening stock + added - withdrawn
 * @param stateVersion number of changes of the state so far
 * @param epoch raised by every preheat, 0 before the first
 * @param lastSeq highest admission sequence stored, or the number from which a rebuild continues
 * @param settled orders settled
 */
record ProductRow(
    long skuId,
    String name,
    long priceCents,
    long stock,
    long initialStock,
    PurchasePolicy policy,
    int limitPerUser,
    Instant opensAt,
    Instant closesAt,
    SaleState state,
    long stateVersion,
    long epoch,
    long lastSeq,
    long settled) {}
