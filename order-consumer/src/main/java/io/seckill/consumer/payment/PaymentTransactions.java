package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.contract.OrderRow;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
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

  /** Longer than a payment alone waits for a lock, which prolongs it. */
  private static final Duration CAREFUL = Duration.ofSeconds(5);

  private final TransactionOperations transactions;
  private final Orders orders;
  private final JdbcClient jdbc;

  /** Until then batches leave out SKUs whose total is locked. */
  private volatile long carefulUntilNanos = System.nanoTime();

  PaymentTransactions(TransactionOperations transactions, Orders orders, JdbcClient jdbc) {
    this.transactions = transactions;
    this.orders = orders;
    this.jdbc = jdbc;
  }

  /**
   * Executes work with these orders locked, and commits.
   *
   * @param waits false to leave out orders that another transaction has locked and, after a wait
   *     that took too long, those of SKUs whose total is locked
   */
  <T> T execute(Collection<OrderId> ids, boolean waits, Function<Orders.Locked, T> work) {
    boolean isCareful = !waits && System.nanoTime() - carefulUntilNanos < 0;
    try {
      return execute(ids, waits, isCareful, work);
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e) != SqlFailure.TRY_AGAIN) {
        throw e;
      }
      carefulUntilNanos = System.nanoTime() + CAREFUL.toNanos();
      if (waits || isCareful || ids.size() == 1) {
        throw e;
      }
    }
    return execute(ids, false, true, work);
  }

  private <T> T execute(
      Collection<OrderId> ids, boolean waits, boolean isCareful, Function<Orders.Locked, T> work) {
    return transactions.execute(
        tx -> {
          Orders.Locked locked = orders.lock(ids, waits);
          return work.apply(isCareful ? free(locked) : locked);
        });
  }

  private Orders.Locked free(Orders.Locked locked) {
    Set<Long> skus =
        locked.rows().values().stream().map(OrderRow::skuId).collect(Collectors.toSet());
    Set<Long> busy = OrderTotalTable.lockPaid(jdbc, skus);
    Map<OrderId, OrderRow> free = new HashMap<>(locked.rows());
    free.values().removeIf(order -> busy.contains(order.skuId()));
    return new Orders.Locked(free, locked.at());
  }
}
