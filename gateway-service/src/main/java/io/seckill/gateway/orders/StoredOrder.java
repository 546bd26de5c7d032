package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order as MySQL has it; for an alias, the order that is stored for the same request.
 *
 * @param id of the stored order
 * @param status DELAYED for one that stands among the dead letters
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
