package io.seckill.consumer.orders;

/**
 * How many of a SKU's admitted orders are settled, according to MySQL.
 *
 * @param settled {@code products.settled}: orders stored, rejected, aliased or discarded
 * @param readAt MySQL's clock, Unix ms; the time of new results
 */
public record SkuProgress(long skuId, long epoch, long settled, long readAt) {}
