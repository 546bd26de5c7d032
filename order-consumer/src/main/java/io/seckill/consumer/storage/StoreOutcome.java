package io.seckill.consumer.storage;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.orders.OrderResult;
import org.jspecify.annotations.Nullable;

/** MySQL's decision on one order; final unless it is {@link Failed}. */
public sealed interface StoreOutcome {

  OrderMessage order();

  /** The result for Redis; null when nothing is decided ({@link Unstorable}, {@link Failed}). */
  default @Nullable OrderResult result() {
    return null;
  }

  /** Stored now: CONFIRMED. */
  record Stored(OrderMessage order) implements StoreOutcome {

    @Override
    public OrderResult result() {
      return OrderResult.of(order.orderId(), order.skuId(), order.userId(), OrderStatus.CONFIRMED);
    }
  }

  /** Stored now as REJECTED; {@code compensation} has the units to return to Redis. */
  record Rejected(OrderMessage order, RejectReason reason) implements StoreOutcome {

    @Override
    public OrderResult result() {
      return OrderResult.rejected(order.orderId(), order.skuId(), order.userId(), reason);
    }
  }

  /** Stored before with the same content; its status may have changed since, at this Unix ms. */
  record Known(
      OrderMessage order, OrderStatus status, @Nullable RejectReason reason, long changedAt)
      implements StoreOutcome {

    @Override
    public OrderResult result() {
      return new OrderResult(
          order.orderId(), order.skuId(), order.userId(), status, reason, null, changedAt);
    }
  }

  /**
   * MySQL has another order for the same request: Redis had lost it when this one was admitted.
   *
   * @param now false when an earlier delivery has stored the alias
   */
  record Alias(OrderMessage order, OrderId stored, boolean now) implements StoreOutcome {

    @Override
    public OrderResult result() {
      return OrderResult.alias(order.orderId(), order.skuId(), order.userId(), stored);
    }
  }

  /** Can never be stored; nothing was written. The message becomes a dead letter. */
  record Unstorable(OrderMessage order, Unfit unfit, String detail) implements StoreOutcome {}

  /** MySQL refused this single order for a reason no rule explains; it may be tried again. */
  record Failed(OrderMessage order, String detail) implements StoreOutcome {}

  /** Why an order can never be stored; a dead letter has a reason of the same name. */
  enum Unfit {
    UNKNOWN_SKU,
    /** The policy in the message differs from the product's: the sale's rules never change. */
    OTHER_POLICY,
    /** The order id is stored with other content: a defect, or a forgery. */
    OTHER_CONTENT
  }
}
