package io.seckill.consumer.orders;

/**
 * How many of a SKU's admitted orders are settled, according to MySQL.
 *
 * @param settled {@code products.settled}: orders stored, rejected, aliased or discarded
 */
public record SkuProgress(long skuId, long epoch, long settled) {}
