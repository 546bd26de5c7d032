package io.seckill.consumer.results;

/**
 * How far a SKU's row of admissions has been worked off, as MySQL has it.
 *
 * @param epoch {@code products.epoch}
 * @param settled {@code products.settled}: orders stored, rejected, aliased or discarded
 */
public record SkuProgress(long skuId, long epoch, long settled) {}
