package io.seckill.consumer.storage;

import static java.util.stream.Collectors.toSet;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.storage.OrderTable.Row;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Recognises messages that come again after their sale was archived: their orders are in {@code
 * orders} until they are moved, then in {@code order_history}. Nothing of an archived sale is
 * stored, so every new order of it is refused before it gets here.
 */
final class ArchivedOrders {

  private ArchivedOrders() {}

  /** An order that comes again after its sale was archived is known, not unstorable. */
  static List<StoreOutcome> orArchived(JdbcOperations jdbc, List<StoreOutcome> unfit) {
    Map<OrderMessage, StoreOutcome> archived =
        among(jdbc, unfit.stream().map(StoreOutcome::order).toList());
    return unfit.stream().map(outcome -> archived.getOrDefault(outcome.order(), outcome)).toList();
  }

  /**
   * @return an outcome for each of these orders that is known; others, and all orders of sales that
   *     are not archived, are missing
   */
  static Map<OrderMessage, StoreOutcome> among(
      JdbcOperations jdbc, Collection<OrderMessage> orders) {
    Map<OrderMessage, StoreOutcome> found = new HashMap<>();
    List<OrderMessage> archived = ofArchivedSales(jdbc, orders);
    if (!archived.isEmpty()) {
      // First where orders are moved from: one that is moved in between is found by the later read.
      Map<OrderId, OrderId> aliases = new HashMap<>(OrderTable.findAliases(jdbc, archived));
      Map<OrderId, Row> rows = new HashMap<>(OrderTable.find(jdbc, archived));
      aliases.putAll(OrderTable.findArchivedAliases(jdbc, archived));
      rows.putAll(OrderTable.findArchived(jdbc, archived));
      for (OrderMessage order : archived) {
        StoreOutcome outcome =
            outcome(order, rows.get(order.orderId()), aliases.get(order.orderId()));
        if (outcome != null) {
          found.put(order, outcome);
        }
      }
    }
    return found;
  }

  private static List<OrderMessage> ofArchivedSales(
      JdbcOperations jdbc, Collection<OrderMessage> orders) {
    if (orders.isEmpty()) {
      return List.of();
    }
    Set<Long> skus =
        ProductTable.archived(jdbc, orders.stream().map(OrderMessage::skuId).collect(toSet()));
    return orders.stream().filter(order -> skus.contains(order.skuId())).toList();
  }

  private static @Nullable StoreOutcome outcome(
      OrderMessage order, @Nullable Row row, @Nullable OrderId aliasOf) {
    if (row != null) {
      return row.hasContentOf(order)
          ? new Known(order, row.status(), row.reason(), row.updatedAt())
          : new Unstorable(
              order, Unfit.OTHER_CONTENT, "archived as " + row.status() + ", otherwise: " + row);
    }
    return aliasOf == null ? null : new Alias(order, aliasOf, false);
  }
}
