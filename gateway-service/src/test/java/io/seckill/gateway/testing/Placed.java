package io.seckill.gateway.testing;

import io.seckill.common.order.OrderId;

/** An order and whose it is. */
public record Placed(OrderId id, long user, long sku, String key) {}
