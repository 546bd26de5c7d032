package io.seckill.consumer.audit;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.support.web.SkuIdSerializer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import tools.jackson.databind.annotation.JsonSerialize;

/**
 * The audit of one sale on one day; a row of {@code daily_audit}. Orders are counted by their state
 * at that moment.
 *
 * @param units opening stock + added - withdrawn
 * @param stock units not sold
 * @param chargedCents money that was taken and kept
 * @param refundedCents money that was refunded
 * @param refundsDue refunds that the provider has not confirmed
 * @param repairs made by reconciliations on this day
 * @param differences the contradictions found, for operators; empty when all agrees
 */
record SaleAudit(
    @JsonFormat(shape = JsonFormat.Shape.STRING) LocalDate day,
    @JsonSerialize(using = SkuIdSerializer.class) long skuId,
    String state,
    long units,
    long stock,
    OrderTotals confirmed,
    OrderTotals paid,
    OrderTotals cancelled,
    OrderTotals expired,
    OrderTotals rejected,
    long chargedCents,
    long refundedCents,
    long refundsDue,
    long repairs,
    List<String> differences,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant madeAt) {}
