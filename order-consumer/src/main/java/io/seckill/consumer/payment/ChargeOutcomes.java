package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.ChargeRequest;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.payment.PaymentTable.BookedCharge;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;

/**
 * Stores the provider's answers to charges: payments and orders change in one transaction. An order
 * that waits for its payment becomes PAID; the charge of an order that has ended otherwise becomes
 * due for a refund; any other charge becomes a row for an operator.
 */
@Component
record ChargeOutcomes(
    Orders orders,
    JdbcOperations jdbc,
    PaymentTable payments,
    ChargeTable charges,
    UnexplainedCharges unexplained,
    PaymentTransactions transactions,
    PaidResults results,
    PaymentMeters meters) {

  record ChargeAnswer(OrderId orderId, PaymentProvider.Charge charge) {}

  /**
   * The orders after the transaction.
   *
   * @param paid the orders that it made PAID
   * @param reasons why an operator must decide about an outcome; others are missing
   */
  record Settled(
      Map<OrderId, OrderRow> orders,
      Set<OrderId> paid,
      Map<ChargeAnswer, UnexplainedReason> reasons) {}

  /**
   * Settles the outcomes and writes the results of paid orders to Redis, unless MySQL decided them
   * and decides their sale still: Redis has such orders after a fallback. A repeated outcome
   * changes nothing, but makes the refund of an order that has ended due again.
   *
   * @param waits as in {@link PaymentTransactions#execute}
   */
  Settled settle(Collection<ChargeAnswer> outcomes, boolean waits) {
    List<OrderId> ids = outcomes.stream().map(ChargeAnswer::orderId).toList();
    Settled settled =
        transactions.execute(
            ids, waits, locked -> change(outcomes, locked, judge(outcomes, locked.rows())::judge));
    return report(settled, outcomes.size());
  }

  /**
   * Stores the intents to charge those of these orders that wait for their payment.
   *
   * @param waits false to leave out orders that another transaction has locked
   * @return the orders
   */
  Map<OrderId, OrderRow> begin(Collection<OrderId> ids, boolean waits) {
    return transactions.executeWithoutTotals(
        ids,
        waits,
        locked -> {
          Map<OrderId, Long> amounts = new HashMap<>();
          locked.rows().values().stream()
              .filter(ChargeOutcomes::isConfirmed)
              .forEach(order -> amounts.put(order.orderId(), order.amountCents()));
          payments.start(amounts);
          return locked.rows();
        });
  }

  /**
   * Charges those orders of the attempts that wait for their payment, and settles the charges in
   * the same transaction.
   *
   * @param waits for wallets too, else as in {@link PaymentTransactions#execute}
   * @return the orders afterwards; one that it has not waited for is missing
   */
  Map<OrderPayment, Optional<OrderRow>> pay(
      Set<OrderPayment> attempts, ChargesInTransaction provider, boolean waits) {
    Map<OrderId, OrderRow> locked = charge(attempts, provider, waits).orders();
    Set<OrderPayment> declined = new HashSet<>(attempts);
    declined.removeIf(
        attempt -> Payments.own(attempt, locked).filter(ChargeOutcomes::isConfirmed).isEmpty());
    if (!declined.isEmpty()
        && provider.endow(declined.stream().map(OrderPayment::userId).toList())) {
      declined.forEach(attempt -> locked.remove(attempt.orderId()));
      locked.putAll(charge(declined, provider, waits).orders());
    }
    Map<OrderId, OrderRow> others =
        orders.find(
            attempts.stream()
                .map(OrderPayment::orderId)
                .filter(id -> !locked.containsKey(id))
                .toList());
    Map<OrderPayment, Optional<OrderRow>> paid = new HashMap<>();
    for (OrderPayment attempt : attempts) {
      Optional<OrderRow> other = Payments.own(attempt, others);
      if (other.filter(ChargeOutcomes::isConfirmed).isEmpty()) {
        paid.put(attempt, Payments.own(attempt, locked).or(() -> other));
      }
    }
    return paid;
  }

  static boolean isConfirmed(OrderRow order) {
    return order.status() == OrderStatus.CONFIRMED;
  }

  private Settled charge(Set<OrderPayment> attempts, ChargesInTransaction provider, boolean waits) {
    List<OrderId> ids = attempts.stream().map(OrderPayment::orderId).toList();
    Settled settled;
    try {
      settled =
          transactions.execute(
              ids, waits, locked -> charge(attempts, locked, provider, waits, true));
    } catch (DataAccessException e) {
      if (SqlFailure.of(e) != SqlFailure.ROW) {
        throw e;
      }
      settled =
          transactions.execute(
              ids, waits, locked -> charge(attempts, locked, provider, waits, false));
    }
    return report(settled, attempts.size());
  }

  private Settled charge(
      Set<OrderPayment> attempts,
      Orders.Locked locked,
      ChargesInTransaction provider,
      boolean waits,
      boolean areNew) {
    List<ChargeRequest> requests =
        attempts.stream()
            .flatMap(attempt -> Payments.own(attempt, locked.rows()).stream())
            .filter(ChargeOutcomes::isConfirmed)
            .map(order -> new ChargeRequest(order.orderId(), order.userId(), order.amountCents()))
            .toList();
    Map<OrderId, PaymentProvider.Charge> charges =
        provider.chargeAll(jdbc, requests, waits, areNew);
    List<ChargeAnswer> outcomes = new ArrayList<>();
    charges.forEach((id, charge) -> outcomes.add(new ChargeAnswer(id, charge)));
    Settled settled = change(outcomes, locked, (order, charge) -> ChargeJudge.Verdict.PAYS);
    requests.stream()
        .map(ChargeRequest::orderId)
        .filter(id -> !charges.containsKey(id))
        .forEach(settled.orders()::remove);
    return settled;
  }

  private Settled report(Settled settled, int outcomes) {
    meters.settled(outcomes);
    meters.paid(settled.paid().size());
    List<OrderResult> paid = new ArrayList<>();
    List<OrderResult> decidedByMySql = new ArrayList<>();
    settled
        .orders()
        .forEach(
            (id, order) -> {
              if (order.status() == OrderStatus.PAID) {
                OrderResult result =
                    OrderResult.of(id, order.skuId(), order.userId(), OrderStatus.PAID);
                (id.isDecidedByMySql() ? decidedByMySql : paid).add(result);
                if (settled.paid().contains(id)) {
                  OrderTrail.mark(id, order.skuId(), null, "paid");
                  results.remember(result);
                }
              }
            });
    paid.addAll(orders.inRedis(decidedByMySql));
    results.write(paid);
    return settled;
  }

  /**
   * Another attempt may still be under way, so a declined payment of an order that has ended in the
   * meantime is closed like any other.
   */
  private Settled change(
      Collection<ChargeAnswer> outcomes,
      Orders.Locked locked,
      BiFunction<OrderRow, String, ChargeJudge.Verdict> judge) {
    List<BookedCharge> booked = new ArrayList<>();
    Set<OrderId> paid = new HashSet<>();
    Set<OrderId> declined = new HashSet<>();
    Set<OrderId> ended = new HashSet<>();
    Map<ChargeAnswer, UnexplainedReason> reasons = new LinkedHashMap<>();
    for (ChargeAnswer outcome : outcomes) {
      OrderRow order = locked.rows().get(outcome.orderId());
      if (order == null) {
        continue;
      }
      if (outcome.charge() instanceof PaymentProvider.Charge.Charged charged) {
        ChargeJudge.Verdict verdict = judge.apply(order, charged.chargeId());
        UnexplainedReason reason = verdict.reason();
        if (reason != null) {
          reasons.put(outcome, reason);
          unexplained.record(ChargeReport.ofPrice(order, charged.chargeId()), reason);
        } else if (verdict == ChargeJudge.Verdict.PAYS) {
          paid.add(order.orderId());
          booked.add(new BookedCharge(order, charged.chargeId(), true));
        } else if (verdict == ChargeJudge.Verdict.REFUND) {
          booked.add(new BookedCharge(order, charged.chargeId(), false));
        }
      } else if (isConfirmed(order)) {
        declined.add(order.orderId());
      } else if (order.status().hasEnded()) {
        ended.add(order.orderId());
      }
    }
    Map<OrderId, OrderRow> now = orders.markPaid(paid, locked);
    payments.charged(booked);
    payments.declined(declined);
    payments.ended(ended);
    OrderTotalTable.Addition totals = new OrderTotalTable.Addition();
    paid.stream()
        .map(locked.rows()::get)
        .forEach(order -> totals.add(order.skuId(), OrderFate.PAID, order.quantity()));
    totals.write(jdbc);
    return new Settled(now, paid, reasons);
  }

  /** Records the charges, and reads the orders of those that were reported before. */
  private ChargeJudge judge(Collection<ChargeAnswer> outcomes, Map<OrderId, OrderRow> locked) {
    Map<String, OrderId> reported = new HashMap<>();
    List<ChargeReport> reports = new ArrayList<>();
    Set<OrderId> paid = new HashSet<>();
    for (ChargeAnswer outcome : outcomes) {
      OrderRow order = locked.get(outcome.orderId());
      if (order != null && outcome.charge() instanceof PaymentProvider.Charge.Charged charged) {
        reported.putIfAbsent(charged.chargeId(), order.orderId());
        reports.add(ChargeReport.ofPrice(order, charged.chargeId()));
        if (order.status() == OrderStatus.PAID) {
          paid.add(order.orderId());
        }
      }
    }
    Map<String, OrderId> known = reported.isEmpty() ? Map.of() : charges.claim(reported);
    Map<String, OrderId> owners = new HashMap<>(reported);
    owners.putAll(known);
    return new ChargeJudge(
        owners,
        known.isEmpty() ? Set.of() : unexplained.contradicted(reports),
        payments.kept(paid));
  }
}
