package io.seckill.support.contract;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Payments of orders that shoppers have asked for at about the same time. */
public record OrderPayments(List<OrderPayment> payments) {

  public static final int MAX_PAYMENTS = 64;

  public OrderPayments {
    RequestChecks.list("payments", payments, MAX_PAYMENTS);
  }

  /** A shopper's wish to pay for an order. */
  public record OrderPayment(OrderId orderId, long userId) {

    public OrderPayment {
      if (orderId == null) {
        throw ProblemException.invalid("orderId", "orderId is missing.");
      }
      RequestChecks.integer("userId", userId, 1, Long.MAX_VALUE);
    }
  }

  /**
   * The outcome of one payment.
   *
   * @param order after COMMIT; null when it is not stored, or is another user's
   * @param alone whether nothing was done, because the payment may wait for a provider or for
   *     another transaction: it must be sent in a call of its own
   */
  public record PaymentOutcome(OrderId orderId, @Nullable OrderRow order, boolean alone) {

    public PaymentOutcome {
      if (orderId == null || (order != null && (alone || !order.orderId().equals(orderId)))) {
        throw new IllegalArgumentException("not the outcome of the payment of " + orderId);
      }
    }

    /**
     * @return the order, PAID
     * @throws ProblemException 404 UNKNOWN_ORDER, 409 PAYMENT_DECLINED or NOT_PAYABLE
     */
    public OrderRow paid() {
      if (order == null) {
        throw ProblemException.of(ProblemCode.UNKNOWN_ORDER);
      }
      OrderStatus status = order.status();
      return switch (status) {
        case PAID -> order;
        case CONFIRMED ->
            throw ProblemException.ofOrder(
                ProblemCode.PAYMENT_DECLINED, "The payment was declined.", status.name());
        default ->
            throw ProblemException.ofOrder(
                ProblemCode.NOT_PAYABLE,
                "An order that is " + status + " cannot be paid.",
                status.name());
      };
    }
  }

  public record PaymentOutcomes(List<PaymentOutcome> outcomes) {

    public PaymentOutcomes {
      outcomes = List.copyOf(outcomes);
    }
  }
}
