package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.storage.OrderTable.NewOrder;
import io.seckill.consumer.storage.QuotaTable.Raise;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores a batch in which every order can be confirmed, with one statement for all orders, one for
 * all quotas and one per SKU for the stock. The statements are the guards: an order that cannot be
 * confirmed makes one of them fail, and then the whole transaction is rolled back.
 */
final class BulkPath {

  private BulkPath() {}

  /**
   * @param orders of known SKUs, each id once, sorted by user and SKU
   * @return null when some order cannot be confirmed; the caller rolls back
   * @throws DataAccessException when MySQL refuses a row for the same reason, or on any other
   *     failure
   */
  static @Nullable StoredBatch store(
      JdbcOperations jdbc, List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    if (!insert(jdbc, orders, rules)) {
      return null;
    }
    List<StoreOutcome> outcomes = new ArrayList<>(orders.size());
    BatchTally tally = new BatchTally();
    for (OrderMessage order : orders) {
      outcomes.add(new StoreOutcome.Stored(order));
      tally.add(order, OrderFate.CONFIRMED);
    }
    if (!tally.take(jdbc)) {
      return null;
    }
    return new StoredBatch(outcomes, List.of(), tally.progress(jdbc));
  }

  /**
   * Inserts the orders and raises the quotas; the caller takes the stock.
   *
   * @return false when the orders of one user exceed the limit: nothing was written
   * @throws DataAccessException as {@link #store}
   */
  static boolean insert(
      JdbcOperations jdbc, List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    Collection<Raise> raises = raises(orders, rules);
    if (raises == null) {
      return false;
    }
    OrderTable.insert(
        jdbc,
        orders.stream()
            .map(order -> new NewOrder(order, SaleRules.of(rules, order), null))
            .toList());
    QuotaTable.raiseAll(jdbc, raises);
    return true;
  }

  /** Units by user and SKU; null when those of one user and SKU exceed the limit (facts.md 29). */
  private static @Nullable Collection<Raise> raises(
      List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    List<Raise> raises = new ArrayList<>(orders.size());
    for (OrderMessage order : orders) {
      SaleRules sale = SaleRules.of(rules, order);
      if (!sale.keepsQuota()) {
        continue;
      }
      int units = order.quantity();
      int last = raises.size() - 1;
      if (last >= 0 && isOf(raises.get(last), order)) {
        units += raises.remove(last).units();
      }
      if (units > sale.limit()) {
        return null;
      }
      raises.add(new Raise(order.userId(), order.skuId(), units, sale.limit()));
    }
    return raises;
  }

  private static boolean isOf(Raise raise, OrderMessage order) {
    return raise.userId() == order.userId() && raise.skuId() == order.skuId();
  }
}
