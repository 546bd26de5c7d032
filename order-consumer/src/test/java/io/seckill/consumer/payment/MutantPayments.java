package io.seckill.consumer.payment;

import io.seckill.common.order.OrderStatus;
import io.seckill.support.contract.OrderRow;
import org.jspecify.annotations.Nullable;

/**
 * Charges too much or for orders that have ended, and forgets charges; mutations take what they
 * need from it.
 */
public final class MutantPayments {

  private MutantPayments() {}

  /** Returns twice the order's amount. */
  static long amountCents(OrderRow order) {
    return 2 * order.amountCents();
  }

  /** Says that no operator must decide. */
  static @Nullable UnexplainedReason reason(ChargeJudge.Verdict verdict) {
    return null;
  }

  /** Says that the order waits for its payment. */
  static OrderStatus status(OrderRow order) {
    return OrderStatus.CONFIRMED;
  }
}
