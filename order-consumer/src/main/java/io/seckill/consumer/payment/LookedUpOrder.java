package io.seckill.consumer.payment;

import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.SkuIdSerializer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;

/**
 * A stored order, as operators see it.
 *
 * @param orderId as text, like userId, because both may be above 2^53; the id of the stored order,
 *     also when an alias was asked for
 * @param paymentState null when no payment of the order was begun
 * @param chargeId null when nothing was charged
 */
record LookedUpOrder(
    String orderId,
    String userId,
    @JsonSerialize(using = SkuIdSerializer.class) long skuId,
    int quantity,
    long unitPriceCents,
    OrderStatus status,
    @Nullable RejectReason reason,
    Instant admittedAt,
    Instant createdAt,
    Instant updatedAt,
    @Nullable String paymentState,
    @Nullable String chargeId) {

  static LookedUpOrder of(
      OrderRow order, @Nullable String paymentState, @Nullable String chargeId) {
    return new LookedUpOrder(
        order.orderId().toString(),
        Long.toString(order.userId()),
        order.skuId(),
        order.quantity(),
        order.unitPriceCents(),
        order.status(),
        order.reason(),
        order.admittedAt(),
        order.createdAt(),
        order.updatedAt(),
        paymentState,
        chargeId);
  }
}
