package io.seckill.support.contract;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import org.jspecify.annotations.Nullable;

/**
 * MySQL's decision on one purchase of a strong sale.
 *
 * @param orderId null unless there is an order for the purchase
 * @param status of that order; null as well
 */
public record StrongDecision(
    Outcome outcome, @Nullable OrderId orderId, @Nullable OrderStatus status) {

  /** The outcome of the purchase. Only CONFIRMED has written something, and UNKNOWN may have. */
  public enum Outcome {
    /** Stored now. */
    CONFIRMED,
    /** The same user has an order under the same idempotency key. */
    REPEATED,
    /** Also of a product that was never preheated. */
    UNKNOWN_SKU,
    NOT_OPEN,
    PAUSED,
    CLOSED,
    /** The quantity is above the SKU's bound for one order. */
    QUANTITY,
    QUOTA_EXCEEDED,
    SOLD_OUT,
    /** Stock is not 0, but less than the quantity of this purchase. */
    TOO_FEW_LEFT,
    /** The idempotency key has an order of another quantity. */
    IDEMPOTENCY_KEY_REUSED,
    /**
     * Too many batches at once, or too many conflicts; MySQL does not decide this sale, or not yet;
     * only units that a fallback has reserved are left; or while there are some, the sale takes no
     * purchase, which may have been admitted before.
     */
    BUSY,
    /** MySQL has failed: a repeat with the same key returns its decision. */
    UNKNOWN
  }

  public static StrongDecision of(Outcome without) {
    return new StrongDecision(without, null, null);
  }

  public static StrongDecision confirmed(OrderId id) {
    return new StrongDecision(Outcome.CONFIRMED, id, OrderStatus.CONFIRMED);
  }

  public static StrongDecision repeated(OrderId id, OrderStatus status) {
    return new StrongDecision(Outcome.REPEATED, id, status);
  }
}
