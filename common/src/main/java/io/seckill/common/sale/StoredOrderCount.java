package io.seckill.common.sale;

/**
 * Number of a SKU's orders in MySQL, and their units, whatever their status.
 *
 * @param orders rows, aliases included
 * @param units sum of their quantities
 */
public record StoredOrderCount(long orders, long units) {}
