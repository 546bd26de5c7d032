package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.OrderRow;
import io.seckill.consumer.orders.Orders;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Pays for orders. The intent is stored before the provider is called; the provider's answer and
 * the order's status change in one transaction; a charge for an order that had ended otherwise is
 * refunded. {@link #sweep} or the provider's callback completes what a crash or a late provider
 * leaves unfinished.
 */
@Component
class Payments {

  private static final Logger log = LoggerFactory.getLogger(Payments.class);

  /** Payments read at once by the sweep, which checks them one after the other. */
  private static final int SWEEP_BATCH = 200;

  private final Orders orders;
  private final PaymentTable payments;
  private final PaymentProvider provider;
  private final TransactionOperations transactions;
  private final OrderResults results;
  private final LifecycleMeters meters;

  Payments(
      Orders orders,
      PaymentTable payments,
      PaymentProvider provider,
      TransactionOperations transactions,
      OrderResults results,
      LifecycleMeters meters) {
    this.orders = orders;
    this.payments = payments;
    this.provider = provider;
    this.transactions = transactions;
    this.results = results;
    this.meters = meters;
  }

  /**
   * @return the order, PAID; the same when it was paid before
   * @throws ProblemException 404 not this user's, 409 NOT_PAYABLE with the order's status, 409
   *     PAYMENT_DECLINED, 503 when the provider does not answer: retry
   */
  OrderRow pay(OrderId orderId, long userId) {
    OrderRow order = orders.ofUser(orderId, userId);
    if (order.status() == OrderStatus.CONFIRMED) {
      charge(order);
    }
    OrderRow now = orders.ofUser(orderId, userId);
    if (now.status() != OrderStatus.PAID) {
      throw notPayable(now.status());
    }
    return now;
  }

  private void charge(OrderRow order) {
    payments.start(order.id(), order.amountCents());
    PaymentProvider.Charge charge = ask(order);
    if (charge instanceof PaymentProvider.Charge.Charged charged) {
      settle(order, charged.chargeId());
      return;
    }
    if (declined(order.id()) == OrderStatus.CONFIRMED) {
      throw ProblemException.ofOrder(
          ProblemCode.PAYMENT_DECLINED, "The payment was declined.", OrderStatus.CONFIRMED.name());
    }
  }

  /**
   * Another attempt may still be under way, so a declined payment of an order that has ended in the
   * meantime is closed like any other.
   *
   * @return the order's status now
   */
  private OrderStatus declined(OrderId orderId) {
    return transactions.execute(
        tx -> {
          OrderStatus status = orders.lockedStatus(orderId);
          if (status == OrderStatus.CONFIRMED) {
            payments.declined(orderId);
          } else if (status != OrderStatus.PAID) {
            payments.ended(List.of(orderId));
          }
          return status;
        });
  }

  private PaymentProvider.Charge ask(OrderRow order) {
    try {
      return answer(() -> provider.charge(order.id(), order.amountCents()));
    } catch (PaymentUnavailableException e) {
      log.warn("order {}: whether it was charged is unknown", order.orderId(), e);
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "The payment provider does not answer; send the same request again.");
    }
  }

  /** Any other exception of a provider also means that the outcome is unknown. */
  private static <T> T answer(Supplier<T> call) {
    try {
      return call.get();
    } catch (PaymentUnavailableException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new PaymentUnavailableException("the payment provider failed", e);
    }
  }

  /** The provider took the money: the order becomes PAID, or the charge is refunded. */
  private void settle(OrderRow order, String chargeId) {
    settle(order, chargeId, () -> true);
  }

  /**
   * Settles a charge that may have been reported before, as the callback does.
   *
   * @param first evaluated in the transaction; false when this was received before: nothing changes
   */
  void settle(OrderRow order, String chargeId, BooleanSupplier first) {
    Settled settled =
        transactions.execute(
            tx -> {
              boolean fresh = first.getAsBoolean();
              boolean paid = fresh && orders.markPaid(order.id());
              OrderStatus status = paid ? OrderStatus.PAID : orders.status(order.id());
              if (fresh) {
                note(order, chargeId, status);
              }
              return new Settled(status, fresh, paid);
            });
    if (settled.now()) {
      meters.ended(OrderStatus.PAID, 1);
      OrderTrail.mark(order.id(), order.skuId(), null, "paid");
    }
    if (settled.status() == OrderStatus.PAID) {
      results.write(
          List.of(OrderResult.of(order.id(), order.skuId(), order.userId(), OrderStatus.PAID)));
    } else if (settled.fresh()) {
      refund(order.id(), true);
    }
  }

  /** The order's status after a charge, whether the charge is new, and whether it made it PAID. */
  private record Settled(OrderStatus status, boolean fresh, boolean now) {}

  private void note(OrderRow order, String chargeId, OrderStatus status) {
    payments.confirmed(order.id(), order.amountCents());
    if (status == OrderStatus.PAID) {
      payments.charged(order.id(), chargeId);
    } else {
      payments.noteCharge(order.id(), chargeId);
      payments.refundDue(order.id());
    }
  }

  /**
   * Refunds a payment, or leaves it to the sweep when the provider does not answer.
   *
   * @param charged whether money is known to be taken
   */
  private void refund(OrderId orderId, boolean charged) {
    try {
      Duration longestBookingDelay =
          answer(
              () -> {
                provider.refund(orderId);
                return provider.longestBookingDelay();
              });
      payments.refunded(orderId, longestBookingDelay);
      if (charged) {
        log.info("order {}: had ended before its payment, refunded", orderId);
        meters.refunded();
      }
    } catch (PaymentUnavailableException e) {
      log.warn("order {}: refund is due, the provider does not answer", orderId, e);
    }
  }

  /**
   * Checks all payments that are due. A payment is checked, at growing intervals, until its order
   * is PAID, or has ended and the provider can book no charge any more. Two processes may do this
   * at once.
   */
  void sweep() {
    List<OrderId> due;
    do {
      due = payments.due(SWEEP_BATCH);
      due.stream()
          .takeWhile(order -> !Thread.currentThread().isInterrupted())
          .filter(payments::claim)
          .forEach(this::look);
    } while (due.size() == SWEEP_BATCH && !Thread.currentThread().isInterrupted());
  }

  private void look(OrderId orderId) {
    Optional<OrderRow> order = orders.find(orderId);
    if (order.isEmpty()) {
      log.error("order {}: has a payment but is not stored", orderId);
      return;
    }
    try {
      look(order.get(), answer(() -> provider.find(orderId)));
    } catch (PaymentUnavailableException e) {
      log.warn("order {}: whether it was charged is still unknown", orderId, e);
    }
  }

  private void look(OrderRow order, Optional<PaymentProvider.Charge.Charged> charge) {
    if (charge.isPresent()) {
      settle(order, charge.get().chargeId());
    } else if (order.status() != OrderStatus.CONFIRMED && order.status() != OrderStatus.PAID) {
      payments.refundDue(order.id());
      refund(order.id(), false);
    }
  }

  private static ProblemException notPayable(OrderStatus status) {
    return ProblemException.ofOrder(
        ProblemCode.NOT_PAYABLE, "An order that is " + status + " cannot be paid.", status.name());
  }
}
