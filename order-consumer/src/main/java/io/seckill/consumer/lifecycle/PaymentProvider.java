package io.seckill.consumer.lifecycle;

import io.seckill.common.order.OrderId;
import java.util.Optional;

/**
 * Takes and returns money. Every call may be repeated: the order id makes it the same call. Never
 * called inside a transaction of ours. A real provider may also report by the signed callback.
 */
interface PaymentProvider {

  /** What came of a charge. */
  sealed interface Charge {

    /**
     * @param chargeId the provider's name for it, 1..64 printable ASCII characters
     */
    record Charged(String chargeId) implements Charge {}

    /** No money was taken; trying again may end otherwise, unless the order was refunded. */
    record Declined() implements Charge {}
  }

  /**
   * Takes the money for an order, once.
   *
   * @throws PaymentUnavailableException when the outcome is unknown: it may have been taken
   */
  Charge charge(OrderId orderId, long amountCents);

  /**
   * The charge of an order; empty when no money was taken, or was given back.
   *
   * @throws PaymentUnavailableException when nobody answers
   */
  Optional<Charge.Charged> find(OrderId orderId);

  /**
   * Gives the money of an order back and declines every later charge; where nothing was taken, only
   * the latter.
   *
   * @throws PaymentUnavailableException when the outcome is unknown; ask again
   */
  void refund(OrderId orderId);
}
