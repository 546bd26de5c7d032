package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order stored in MySQL; for an alias, the order that is stored for the same request.
 *
 * @param status DELAYED for an order among the dead letters
 */
record StoredOrder(
    OrderId id,
    long userId,
    long skuId,
    int quantity,
    OrderStatus status,
    @Nullable RejectReason reason,
    Instant admittedAt,
    Instant createdAt,
    Instant updatedAt) {}
