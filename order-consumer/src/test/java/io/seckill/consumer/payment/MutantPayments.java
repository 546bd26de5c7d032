package io.seckill.consumer.payment;

import io.seckill.consumer.orders.OrderRow;

/** Charges too much; a mutation takes the amount to charge from it. */
public final class MutantPayments {

  private MutantPayments() {}

  /** Returns twice the order's amount. */
  static long amountCents(OrderRow order) {
    return 2 * order.amountCents();
  }
}
