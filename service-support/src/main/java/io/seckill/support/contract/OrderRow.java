package io.seckill.support.contract;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A stored order; only one that is REJECTED has a reason. */
public record OrderRow(
    OrderId orderId,
    long userId,
    long skuId,
    int quantity,
    long unitPriceCents,
    String requestId,
    OrderStatus status,
    @Nullable RejectReason reason,
    Instant admittedAt,
    Instant createdAt,
    Instant updatedAt) {

  public OrderRow {
    if (Stream.of(orderId, requestId, status, admittedAt, createdAt, updatedAt)
        .anyMatch(Objects::isNull)) {
      throw new IllegalArgumentException("an order lacks a member");
    }
  }

  /** Fits a long: a price is at most 10^12 and a quantity 10^4. */
  public long amountCents() {
    return unitPriceCents * quantity;
  }
}
