package io.seckill.system.guarantee;

/**
 * What gateway, relay and consumer counted of one sale.
 *
 * @param admitted orders, by admit.lua
 * @param published orders, by settle.lua, once for each that left a private queue
 * @param settled orders and aliases, by order-consumer
 * @param aliased second ids of orders of this sale
 * @param admissionSeq Redis's last admission
 * @param storedSeq the highest that MySQL has
 */
public record SaleCounters(
    long admitted, long published, long settled, long aliased, long admissionSeq, long storedSeq) {}
