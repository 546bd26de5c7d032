package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.contract.OrderRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Transactions of payments: they lock their orders first and the totals of these SKUs last. A
 * process that stops before its COMMIT keeps the total of a SKU locked until MySQL closes its
 * connection. Payments of other SKUs need not wait for that. Thread-safe.
 */
@Component
final class PaymentTransactions {

  private final TransactionOperations transactions;
  private final Orders orders;
  private final JdbcClient jdbc;

  /** SKUs for which a wait has failed; until a batch finds their total free. */
  private final Set<Long> suspects = ConcurrentHashMap.newKeySet();

  PaymentTransactions(TransactionOperations transactions, Orders orders, JdbcClient jdbc) {
    this.transactions = transactions;
    this.orders = orders;
    this.jdbc = jdbc;
  }

  /**
   * Executes work with these orders locked, and commits.
   *
   * @param waits false to leave out orders that another transaction has locked, and those of SKUs
   *     whose total is locked although a payment has waited for it as long as it may
   */
  <T> T execute(Collection<OrderId> ids, boolean waits, Function<Orders.Locked, T> work) {
    Set<Long> skus = new HashSet<>();
    try {
      return execute(ids, waits, skus, work);
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e) != SqlFailure.TRY_AGAIN) {
        throw e;
      }
      suspects.addAll(skus);
      if (waits || ids.size() == 1) {
        throw e;
      }
    }
    return execute(ids, false, skus, work);
  }

  /**
   * Executes work that adds to no total.
   *
   * @param waits false to leave out orders that another transaction has locked
   */
  <T> T executeWithoutTotals(
      Collection<OrderId> ids, boolean waits, Function<Orders.Locked, T> work) {
    return transactions.execute(tx -> work.apply(orders.lock(ids, waits)));
  }

  /**
   * @param skus receives those of the orders, each before its total is locked
   */
  private <T> T execute(
      Collection<OrderId> ids, boolean waits, Set<Long> skus, Function<Orders.Locked, T> work) {
    return transactions.execute(
        tx -> {
          Orders.Locked locked = orders.lock(ids, waits);
          locked.rows().values().forEach(order -> skus.add(order.skuId()));
          return work.apply(waits ? locked : withoutBusy(locked, skus));
        });
  }

  private Orders.Locked withoutBusy(Orders.Locked locked, Set<Long> skus) {
    Set<Long> tried = new HashSet<>(skus);
    tried.retainAll(suspects);
    Set<Long> busy = OrderTotalTable.lockPaid(jdbc, tried);
    tried.removeAll(busy);
    suspects.removeAll(tried);
    Map<OrderId, OrderRow> free = new HashMap<>(locked.rows());
    free.values().removeIf(order -> busy.contains(order.skuId()));
    return new Orders.Locked(free, locked.at());
  }
}
