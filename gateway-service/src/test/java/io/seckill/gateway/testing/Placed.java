package io.seckill.gateway.testing;

import io.seckill.common.order.OrderId;

/** An order with its user, SKU and idempotency key. */
public record Placed(OrderId id, long user, long sku, String key) {}
