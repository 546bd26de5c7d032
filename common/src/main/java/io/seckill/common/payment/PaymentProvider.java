package io.seckill.common.payment;

import io.seckill.common.order.OrderId;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Takes and returns money: the extension point by which a deployment of order-consumer chooses its
 * payment provider. docs/payment.md describes how an implementation is installed, and {@code
 * PaymentProviderContract} in tests/kit tests one.
 *
 * <p><b>Payment id.</b> An order has one payment, and the order id is its id. Each call may be
 * repeated, by another process and after hours, and has the effect of one call. However often it is
 * called, at most one charge of a payment is in force at any time. A provider with idempotency keys
 * of its own derives them from the order id; if those remember a declined charge, it adds the
 * number of the attempt to the key and still finds and refunds all attempts of the order.
 *
 * <p><b>Threads.</b> Calls come from many threads and from all order-consumers at once, also for
 * the same payment: two charges, or a charge and a refund. No transaction of order-consumer is open
 * during a call.
 *
 * <p><b>Time-outs.</b> A call blocks its thread, so it ends within a time-out that the
 * implementation sets on its connections. Stay below {@code seckill.consumer.timeout} of the
 * gateways (5 s): after that time they abandon the shopper's request. A call ends soon after its
 * thread is interrupted.
 *
 * <p><b>Unknown outcomes.</b> A call that gets no answer, or one that it does not understand,
 * throws {@link PaymentUnavailableException}. It never returns {@link Charge.Declined}, or an empty
 * result, as a guess. Any other exception is treated as an unknown outcome, too.
 *
 * <p><b>Charge id.</b> A charge is money taken once. Its id names it in every answer and callback,
 * differs from the ids of all other charges of all orders, and is never used again. Letter case
 * counts. A charge is of one order and has one amount. If an implementation breaks this, no money
 * is counted twice: a charge that contradicts what was reported of it before pays for nothing.
 *
 * <p><b>Callbacks.</b> A provider may also report on its own, by the signed callback of
 * docs/payment.md, that it has taken money or given it back. A report is identified by its content:
 * type, charge id, order id, amount and currency. Repeats and any order of arrival have the effect
 * of one report; the event id is only logged. order-consumer answers 2xx after it has stored what
 * the report leads to; to any other answer the provider sends the report again, signed anew.
 *
 * <p>Money that is reported, or that an answer reveals, pays for its order, is refunded, or becomes
 * an unexplained charge, about which an operator decides: a second charge of a PAID order, another
 * amount or currency, an unknown order, another order's charge, a refund that nobody requested.
 */
public interface PaymentProvider {

  /** Outcome of a charge. */
  sealed interface Charge {

    /**
     * The money is taken.
     *
     * @param chargeId the provider's name for the charge, 1..64 printable ASCII characters without
     *     spaces, or the constructor throws; the same for each call of one payment
     */
    record Charged(String chargeId) implements Charge {

      private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,64}");

      public Charged {
        if (!ID.matcher(chargeId).matches()) {
          throw new IllegalArgumentException("a charge id has 1..64 printable ASCII characters");
        }
      }
    }

    /** No money was taken. Another try may succeed, unless the payment was refunded. */
    record Declined() implements Charge {}
  }

  /**
   * Takes the money of an order, once: a repeat of a successful charge returns the same charge.
   *
   * @param amountCents 0..10^16, the same in each call for an order; the currency is agreed with
   *     the provider
   * @throws PaymentUnavailableException when the outcome is unknown: the money may have been taken,
   *     or may be taken up to {@link #longestBookingDelay} later
   */
  Charge charge(OrderId orderId, long amountCents);

  /** A charge to make, with the user who pays. */
  record ChargeRequest(OrderId orderId, long userId, long amountCents) {}

  /**
   * Takes the money of an order as {@link #charge(OrderId, long)}, which it calls unless it is
   * overridden: by a provider that charges an account of the user.
   *
   * @throws PaymentUnavailableException as well
   */
  default Charge charge(ChargeRequest request) {
    return charge(request.orderId(), request.amountCents());
  }

  /**
   * Returns the charge of an order that is in force, or empty when no money is taken, it is not yet
   * taken, or it has been refunded.
   *
   * @throws PaymentUnavailableException when it is unknown
   */
  Optional<Charge.Charged> find(OrderId orderId);

  /**
   * Ends a payment: refunds the money taken, and, as far as the provider supports it, declines
   * later charges and charges in progress. Also called when nothing was charged. A repeat of a
   * completed refund gives nothing back a second time.
   *
   * @throws PaymentUnavailableException when the outcome is unknown
   */
  void refund(OrderId orderId);

  /**
   * How long after a call of {@link #charge} its money may still be taken although the payment has
   * been refunded in between. A provider that can close a payment for good returns {@link
   * Duration#ZERO}. Otherwise order-consumer queries again, at growing intervals and a last time
   * when this delay is over, and refunds any charge it finds. Money taken even later is not
   * noticed, so use the longest delay that the provider states and add a reserve. Returns 0..30
   * days, always the same.
   */
  Duration longestBookingDelay();
}
