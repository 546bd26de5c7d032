package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import java.time.Instant;

/**
 * The attributes of a product that an operator sets.
 *
 * @param name 1..200 characters without control characters
 * @param priceCents per unit, 0..10^12, so that an order's sum fits a long
 * @param stock opening stock in units, 0..10^9
 * @param limitPerUser units per user: 1 for ONE_PER_USER, 1..10000 for LIMITED, 0 for UNLIMITED
 * @param decides MYSQL for a strong sale
 * @param opensAt in whole milliseconds, before closesAt
 */
record ProductRules(
    String name,
    long priceCents,
    long stock,
    PurchasePolicy policy,
    int limitPerUser,
    Decider decides,
    Instant opensAt,
    Instant closesAt) {}
