package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.OrderRow;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.payment.PaymentTable.BookedCharge;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Stores what the provider answered to charges: payments and orders change in one transaction. An
 * order that waits for its payment becomes PAID; the charge of an order that has ended otherwise
 * becomes due for a refund.
 */
@Component
class ChargeOutcomes {

  private final Orders orders;
  private final PaymentTable payments;
  private final TransactionOperations transactions;
  private final OrderResults results;
  private final LifecycleMeters meters;

  ChargeOutcomes(
      Orders orders,
      PaymentTable payments,
      TransactionOperations transactions,
      OrderResults results,
      LifecycleMeters meters) {
    this.orders = orders;
    this.payments = payments;
    this.transactions = transactions;
    this.results = results;
    this.meters = meters;
  }

  /** The provider's answer to the charge of an order. */
  record Outcome(OrderId orderId, PaymentProvider.Charge charge) {}

  /**
   * The orders after the transaction.
   *
   * @param fresh false when the outcomes were received before
   * @param paid the orders that it made PAID
   */
  record Settled(boolean fresh, Map<OrderId, OrderRow> orders, Set<OrderId> paid) {}

  /**
   * Settles the outcomes and writes the results of paid orders to Redis, unless MySQL decided them
   * and decides their sale still: Redis has such orders after a fallback. Of several outcomes,
   * those whose order another transaction has locked are left out.
   *
   * @param first evaluated in the transaction; false when these were received before: nothing
   *     changes
   */
  Settled settle(Collection<Outcome> outcomes, BooleanSupplier first) {
    List<OrderId> ids = outcomes.stream().map(Outcome::orderId).toList();
    Settled settled =
        transactions.execute(
            tx -> {
              boolean fresh = first.getAsBoolean();
              Map<OrderId, OrderRow> locked = orders.lock(ids, ids.size() == 1);
              return fresh ? change(outcomes, locked) : new Settled(false, locked, Set.of());
            });
    meters.settled(outcomes.size());
    meters.ended(OrderStatus.PAID, settled.paid().size());
    List<OrderResult> paid = new ArrayList<>();
    List<OrderResult> decidedByMySql = new ArrayList<>();
    settled
        .orders()
        .forEach(
            (id, order) -> {
              if (settled.paid().contains(id)) {
                OrderTrail.mark(id, order.skuId(), null, "paid");
              }
              if (order.status() == OrderStatus.PAID) {
                (id.isDecidedByMySql() ? decidedByMySql : paid)
                    .add(OrderResult.of(id, order.skuId(), order.userId(), OrderStatus.PAID));
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
  private Settled change(Collection<Outcome> outcomes, Map<OrderId, OrderRow> locked) {
    List<BookedCharge> charges = new ArrayList<>();
    Set<OrderId> paid = new HashSet<>();
    Set<OrderId> declined = new HashSet<>();
    Set<OrderId> ended = new HashSet<>();
    for (Outcome outcome : outcomes) {
      OrderRow order = locked.get(outcome.orderId());
      if (order == null) {
        continue;
      }
      boolean waits = order.status() == OrderStatus.CONFIRMED;
      boolean payable = waits || order.status() == OrderStatus.PAID;
      if (outcome.charge() instanceof PaymentProvider.Charge.Charged charged) {
        charges.add(new BookedCharge(order, charged.chargeId(), payable));
        if (waits) {
          paid.add(outcome.orderId());
        }
      } else if (waits) {
        declined.add(outcome.orderId());
      } else if (!payable) {
        ended.add(outcome.orderId());
      }
    }
    orders.markPaid(paid);
    payments.charged(charges);
    payments.declined(declined);
    payments.ended(ended);
    Map<OrderId, OrderRow> now = new HashMap<>(locked);
    now.putAll(orders.find(paid));
    return new Settled(true, now, paid);
  }
}
