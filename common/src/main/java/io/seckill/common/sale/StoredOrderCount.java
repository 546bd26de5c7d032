package io.seckill.common.sale;

/**
 * How much of a SKU's orders MySQL holds, whatever became of them.
 *
 * @param orders rows, aliases included
 * @param units their quantities together
 */
public record StoredOrderCount(long orders, long units) {}
