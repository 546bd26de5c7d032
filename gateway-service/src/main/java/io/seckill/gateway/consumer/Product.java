package io.seckill.gateway.consumer;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;

/**
 * A row of {@code products}, as order-consumer returns it.
 *
 * @param stock units still sellable
 * @param initialStock opening units + added - withdrawn
 * @param limitPerUser units; 1 for ONE_PER_USER, 0 for UNLIMITED
 * @param stateVersion number of changes of the state so far
 * @param epoch 0 before the first preheat
 * @param lastSeq highest admission sequence stored, or the value from which a rebuild continued it
 * @param settled orders settled, counted on the same scale as lastSeq
 */
public record Product(
    long skuId,
    String name,
    long priceCents,
    long stock,
    long initialStock,
    PurchasePolicy policy,
    int limitPerUser,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt,
    SaleState state,
    long stateVersion,
    long epoch,
    long lastSeq,
    long settled) {}
