package io.seckill.consumer.payment;

import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.orders.OrderRow;

/** Charges too much, or for orders that have ended; mutations take an order's data from it. */
public final class MutantPayments {

  private MutantPayments() {}

  /** Returns twice the order's amount. */
  static long amountCents(OrderRow order) {
    return 2 * order.amountCents();
  }

  /** Says that the order waits for its payment. */
  static OrderStatus status(OrderRow order) {
    return OrderStatus.CONFIRMED;
  }
}
