package io.seckill.consumer.store;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import org.jspecify.annotations.Nullable;

/** What MySQL made of one order, decided for good unless it is {@link Failed}. */
public sealed interface StoreOutcome {

  OrderMessage order();

  /** Stored now: CONFIRMED. */
  record Stored(OrderMessage order) implements StoreOutcome {}

  /** Stored now as REJECTED; what Redis is owed stands in {@code compensation}. */
  record Rejected(OrderMessage order, RejectReason reason) implements StoreOutcome {}

  /** Stored before with the same content; its status may have moved on since. */
  record Known(OrderMessage order, OrderStatus status, @Nullable RejectReason reason)
      implements StoreOutcome {}

  /**
   * MySQL keeps another order for the same request: Redis had lost it when this one was admitted.
   *
   * @param now false when a former delivery had found that out
   */
  record Alias(OrderMessage order, OrderId stored, boolean now) implements StoreOutcome {}

  /** Can never be stored; nothing was written. A dead letter. */
  record Unstorable(OrderMessage order, Unfit unfit, String detail) implements StoreOutcome {}

  /** MySQL refused this order alone, for no reason that a rule explains; may be tried again. */
  record Failed(OrderMessage order, String detail) implements StoreOutcome {}

  /** Why an order can never be stored. */
  enum Unfit {
    UNKNOWN_SKU,
    /** The message says another policy than the product: the sale's rules never change. */
    OTHER_POLICY,
    /** The order id is stored with other content: a defect, or a forgery. */
    OTHER_CONTENT
  }
}
