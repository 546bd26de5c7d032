package io.seckill.consumer.reconciliation;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Sql;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Finds orders that have reached MySQL: as an order, an alias or a dead letter for them. Also reads
 * quotas.
 */
@Component
record KnownOrders(JdbcClient jdbc) {

  private static final int CHUNK = 1_000;

  /** A replayed dead letter is in flight again, and does not account for its order. */
  private static final String KNOWN =
      """
      SELECT order_id FROM orders WHERE order_id IN (:ids)
      UNION ALL SELECT order_id FROM order_alias WHERE order_id IN (:ids)
      UNION ALL SELECT order_id FROM dead_letter WHERE order_id IN (:ids) AND state <> 'REPLAYED'
      """;

  private static final String HOLDING =
      "SELECT order_id FROM orders WHERE order_id IN (:ids) AND status IN ('CONFIRMED', 'PAID')";

  private static final String QUOTAS =
      "SELECT user_id, owned_count FROM user_quota WHERE sku_id = :sku AND user_id IN (:ids)"
          + " AND owned_count > 0";

  /** Returns those of these orders that MySQL has, as committed now. */
  Set<OrderId> among(Collection<OrderId> orders) {
    return find(KNOWN, orders);
  }

  /** Returns those of these orders that hold units, as committed now. */
  Set<OrderId> holdingUnits(Collection<OrderId> orders) {
    return find(HOLDING, orders);
  }

  /** Returns the units of these users above 0, as committed now. */
  Map<Long, Long> quotas(long sku, Collection<Long> users) {
    Map<Long, Long> quotas = new HashMap<>();
    for (List<Long> ids : Sql.chunks(users, CHUNK)) {
      quotas.putAll(
          jdbc.sql(QUOTAS)
              .param("sku", sku)
              .param("ids", ids)
              .query(Sql.map(row -> row.getLong(1), row -> row.getLong(2))));
    }
    return quotas;
  }

  private Set<OrderId> find(String sql, Collection<OrderId> orders) {
    Set<OrderId> found = new HashSet<>();
    for (List<OrderId> ids : Sql.chunks(orders, CHUNK)) {
      jdbc.sql(sql)
          .param("ids", Orders.ids(ids))
          .query(Long.class)
          .list()
          .forEach(id -> found.add(new OrderId(id)));
    }
    return found;
  }
}
