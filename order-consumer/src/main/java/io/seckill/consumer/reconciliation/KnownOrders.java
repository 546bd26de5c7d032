package io.seckill.consumer.reconciliation;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Sql;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Finds orders that have reached MySQL: as an order, an alias or a dead letter for them. */
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

  /** Returns those of these orders that MySQL has, as committed now. */
  Set<OrderId> among(Collection<OrderId> orders) {
    return find(KNOWN, orders);
  }

  /** Returns those of these orders that hold units, as committed now. */
  Set<OrderId> holdingUnits(Collection<OrderId> orders) {
    return find(HOLDING, orders);
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
