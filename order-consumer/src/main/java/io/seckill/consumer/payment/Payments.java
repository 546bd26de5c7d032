package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.ChargeRequest;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.payment.ChargeOutcomes.ChargeAnswer;
import io.seckill.consumer.runtime.CallerBatcher;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Pays for orders. The intent is stored before the provider is called; the provider's answer and
 * the order's status change in one transaction; a charge for an order that had ended otherwise is
 * refunded. A provider in the same database charges in that transaction, without an intent.
 * Concurrent payments share statements and transactions; the provider is called for each by itself,
 * outside of them. {@link PaymentSweep} or the provider's callback completes payments that a crash
 * or a late provider leaves unfinished.
 */
@Component
class Payments {

  private static final Logger log = LoggerFactory.getLogger(Payments.class);
  private static final ThrottledLog unavailable = new ThrottledLog(log);

  static final String ELSEWHERE =
      "order {}: its payment was begun at another provider, and stays due";

  /** Payments that may wait to begin, in lists of eight gateways; further ones are refused. */
  private static final int MAX_WAITING = 8 * OrderPayments.MAX_PAYMENTS;

  private final Orders orders;
  private final PaymentTable payments;
  private final PaymentProvider provider;
  private final ChargeOutcomes outcomes;
  private final PaymentMeters meters;
  private final ConnectionShare lockWaits;

  /** Separate: a line about a charge would otherwise leave these out for a minute. */
  private final ThrottledLog failedRefunds = new ThrottledLog(log);

  private final CallerBatcher<OrderPayment, Optional<OrderRow>> attempts =
      new CallerBatcher<>(MAX_WAITING, batch -> attempt(batch, false));

  /** Refuses none, as money may have been taken; the threads of the web server bound it. */
  private final CallerBatcher<ChargeAnswer, OrderRow> answers =
      new CallerBatcher<>(Integer.MAX_VALUE, this::settle);

  Payments(
      Orders orders,
      PaymentTable payments,
      PaymentProvider provider,
      ChargeOutcomes outcomes,
      PaymentMeters meters,
      ConnectionShare lockWaits) {
    this.orders = orders;
    this.payments = payments;
    this.provider = provider;
    this.outcomes = outcomes;
    this.meters = meters;
    this.lockWaits = lockWaits;
    meters.waiting(() -> attempts.depth() + answers.depth());
  }

  /**
   * @return the order, PAID; the same when it was paid before
   * @throws ProblemException 404 not this user's, 409 NOT_PAYABLE with the order's status, 409
   *     PAYMENT_DECLINED, 503 when the provider does not answer: retry; 503 BUSY
   */
  OrderRow pay(OrderPayment payment) {
    Optional<OrderRow> tried = attempts.submitAll(List.of(payment)).get(payment);
    if (tried == null) {
      tried =
          lockWaits
              .within(() -> attempt(Set.of(payment), true))
              .getOrDefault(payment, Optional.empty());
    }
    OrderRow now = tried.orElse(null);
    if (now != null
        && now.status() == OrderStatus.CONFIRMED
        && !(provider instanceof ChargesInTransaction)) {
      now = charge(now);
    }
    return new PaymentOutcome(payment.orderId(), now, false).paid();
  }

  /**
   * Pays for those orders that need not wait for the provider or for another transaction.
   *
   * @return an outcome for each, in this order
   * @throws ProblemException 503 BUSY when nothing was done
   * @throws RuntimeException of MySQL, when the outcomes are unknown
   */
  List<PaymentOutcome> pay(List<OrderPayment> list) {
    Map<OrderPayment, Optional<OrderRow>> now =
        provider instanceof ChargesInTransaction ? attempts.submitAll(list) : Map.of();
    return list.stream().map(payment -> outcome(payment, now)).toList();
  }

  private static PaymentOutcome outcome(
      OrderPayment payment, Map<OrderPayment, Optional<OrderRow>> now) {
    Optional<OrderRow> order = now.get(payment);
    return new PaymentOutcome(
        payment.orderId(), order == null ? null : order.orElse(null), order == null);
  }

  /**
   * @param waits for orders that another transaction has locked; else they are missing
   */
  private Map<OrderPayment, Optional<OrderRow>> attempt(Set<OrderPayment> batch, boolean waits) {
    return provider instanceof ChargesInTransaction inTransaction
        ? outcomes.pay(batch, inTransaction, waits)
        : begin(batch, waits);
  }

  /** Reads the orders, each for its owner only, and stores the intents for those that wait. */
  Map<OrderPayment, Optional<OrderRow>> begin(Set<OrderPayment> batch, boolean waits) {
    Map<OrderId, OrderRow> stored = orders.find(batch.stream().map(OrderPayment::orderId).toList());
    Map<OrderPayment, Optional<OrderRow>> found = new HashMap<>();
    Set<OrderPayment> waiting = new HashSet<>();
    for (OrderPayment attempt : batch) {
      Optional<OrderRow> own = own(attempt, stored);
      if (own.filter(ChargeOutcomes::isConfirmed).isPresent()) {
        waiting.add(attempt);
      } else {
        found.put(attempt, own);
      }
    }
    if (!waiting.isEmpty()) {
      Map<OrderId, OrderRow> begun =
          outcomes.begin(waiting.stream().map(OrderPayment::orderId).toList(), waits);
      waiting.forEach(
          attempt ->
              own(attempt, begun).ifPresent(order -> found.put(attempt, Optional.of(order))));
    }
    return found;
  }

  /** The order of a payment among these; empty when it is not stored, or is another user's. */
  static Optional<OrderRow> own(OrderPayment payment, Map<OrderId, OrderRow> found) {
    return Optional.ofNullable(found.get(payment.orderId()))
        .filter(order -> order.userId() == payment.userId());
  }

  /**
   * @return the order after the charge; CONFIRMED when it was declined, or an operator must decide
   *     about it
   */
  private OrderRow charge(OrderRow order) {
    PaymentProvider.Charge charge = ask(order);
    ChargeAnswer answer = new ChargeAnswer(order.orderId(), charge);
    OrderRow now = answers.submitAll(List.of(answer)).get(answer);
    if (now == null) {
      now = settleAlone(answer);
    }
    if (charge instanceof PaymentProvider.Charge.Charged && now.status().hasEnded()) {
      refund(order.orderId(), true);
    }
    return now;
  }

  /**
   * Waits for the order, outside of the batches.
   *
   * @throws ProblemException 503 UNAVAILABLE when too many wait: money may have been taken
   */
  private OrderRow settleAlone(ChargeAnswer answer) {
    ChargeOutcomes.Settled settled;
    try {
      settled = lockWaits.within(() -> outcomes.settle(List.of(answer), true));
    } catch (ProblemException e) {
      throw ProblemException.of(ProblemCode.UNAVAILABLE, "Send the same request again.");
    }
    return Objects.requireNonNull(settled.orders().get(answer.orderId()));
  }

  /** Settles the outcomes; one whose order another transaction has locked is missing. */
  Map<ChargeAnswer, OrderRow> settle(Set<ChargeAnswer> batch) {
    Map<OrderId, OrderRow> now = outcomes.settle(batch, false).orders();
    return batch.stream()
        .filter(outcome -> now.containsKey(outcome.orderId()))
        .collect(Collectors.toMap(Function.identity(), outcome -> now.get(outcome.orderId())));
  }

  private PaymentProvider.Charge ask(OrderRow order) {
    try {
      return answer(
          () ->
              provider.charge(
                  new ChargeRequest(order.orderId(), order.userId(), order.amountCents())));
    } catch (PaymentUnavailableException e) {
      unavailable.warn("order " + order.orderId() + ": whether it was charged is unknown", e);
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "The payment provider does not answer; send the same request again.");
    }
  }

  /** Any other exception of a provider also means that the outcome is unknown. */
  static <T> T answer(Supplier<T> call) {
    try {
      return call.get();
    } catch (PaymentUnavailableException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new PaymentUnavailableException("the payment provider failed: " + e, e);
    }
  }

  /**
   * Settles a charge that the provider reports on its own, or that the sweep has found: the order
   * becomes PAID, or the charge is refunded, or an operator decides. The order is stored; nothing
   * of an archived one changes. Returns why an operator must decide, else null.
   *
   * @param order as it was read before
   */
  @Nullable UnexplainedReason settle(OrderRow order, String chargeId) {
    OrderId orderId = order.orderId();
    boolean isRepeated = order.status().hasEnded() && payments.isRefunded(orderId, chargeId);
    ChargeAnswer outcome = new ChargeAnswer(orderId, new PaymentProvider.Charge.Charged(chargeId));
    ChargeOutcomes.Settled settled = outcomes.settle(List.of(outcome), false);
    if (settled.orders().isEmpty()) {
      settled = lockWaits.within(() -> outcomes.settle(List.of(outcome), true));
    }
    OrderRow now = settled.orders().get(orderId);
    if (now == null && !payments.isOfArchived(orderId, chargeId)) {
      return UnexplainedReason.ARCHIVED_ORDER;
    }
    if (now != null && now.status().hasEnded()) {
      if (isOwn(chargeId)) {
        refund(orderId, !isRepeated);
      } else {
        log.error(ELSEWHERE, orderId);
      }
    }
    return settled.reasons().get(outcome);
  }

  /** Whether this provider can have made a charge: it cannot return the money of another one. */
  private boolean isOwn(String chargeId) {
    return !(provider instanceof ChargesInTransaction)
        || chargeId.startsWith(ChargesInTransaction.ID_PREFIX);
  }

  /**
   * Refunds a payment, or leaves it to the sweep when the provider does not answer; with {@code
   * charged}, money is known to be taken and not returned before.
   */
  void refund(OrderId orderId, boolean charged) {
    try {
      Duration longestBookingDelay =
          answer(
              () -> {
                provider.refund(orderId);
                return provider.longestBookingDelay();
              });
      payments.closed(orderId, longestBookingDelay);
      if (charged) {
        log.info("order {}: had ended before its payment, refunded", orderId);
        meters.refunded();
      }
    } catch (PaymentUnavailableException e) {
      failedRefunds.warn("order " + orderId + ": a refund is due", e);
    }
  }
}
