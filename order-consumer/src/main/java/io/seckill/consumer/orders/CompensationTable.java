package io.seckill.consumer.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.runtime.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The statements on {@code compensation}. Those of the batch store take its transaction. */
@Component
public class CompensationTable {

  private static final String COLUMNS =
      "order_id, sku_id, user_id, epoch, stock_units, quota_units";
  private static final String ROW = "(?, ?, ?, ?, ?, ?)";

  /** With the idempotency key of the order, or of the order that answers its request. */
  private static final String SELECT =
      "SELECT c.order_id, c.sku_id, c.user_id, c.epoch, c.stock_units, c.quota_units,"
          + " COALESCE(o.request_id, f.request_id) FROM compensation c"
          + " LEFT JOIN orders o ON o.order_id = c.order_id"
          + " LEFT JOIN order_alias a ON a.order_id = c.order_id"
          + " LEFT JOIN orders f ON f.order_id = a.stored_order_id WHERE ";

  private final JdbcClient jdbc;

  CompensationTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * @throws DataAccessException also when one of the orders has a row already: an order is
   *     compensated once
   */
  public static void insert(JdbcOperations transaction, Collection<Compensation> compensations) {
    if (compensations.isEmpty()) {
      return;
    }
    transaction.update(
        "INSERT INTO compensation ("
            + COLUMNS
            + ") VALUES "
            + Sql.repeated(ROW, compensations.size()),
        insert -> {
          int at = 1;
          for (Compensation one : compensations) {
            insert.setLong(at++, one.orderId().value());
            insert.setLong(at++, one.skuId());
            insert.setLong(at++, one.userId());
            insert.setLong(at++, one.epoch());
            insert.setInt(at++, one.stockUnits());
            insert.setInt(at++, one.quotaUnits());
          }
        });
  }

  /** Compensations of these orders that Redis has not confirmed. */
  public static List<Compensation> pendingOf(
      JdbcOperations transaction, Collection<OrderId> orders) {
    if (orders.isEmpty()) {
      return List.of();
    }
    return transaction.query(
        SELECT + "c.done_at IS NULL AND c.order_id IN (" + Sql.marks(orders.size()) + ")",
        (row, number) -> read(row),
        Orders.ids(orders).toArray());
  }

  /** Compensations of these orders, at least one, confirmed by Redis or not. */
  List<Compensation> of(Collection<OrderId> orders) {
    return jdbc.sql(SELECT + "c.order_id IN (:orders)")
        .param("orders", Orders.ids(orders))
        .query((row, number) -> read(row))
        .list();
  }

  /**
   * A page of the compensations that Redis has not confirmed, by order id.
   *
   * @param afterOrderId 0 for the first page
   * @param minAgeSeconds leaves out younger rows: their first delivery may still be under way; a
   *     time to come is from before MySQL's clock was set back
   */
  List<Compensation> pending(long afterOrderId, int minAgeSeconds, int limit) {
    return jdbc.sql(
            SELECT
                + "c.done_at IS NULL AND c.order_id > ?"
                + " AND (c.created_at <= NOW(6) - INTERVAL ? SECOND OR c.created_at > NOW(6))"
                + " ORDER BY c.order_id LIMIT ?")
        .params(afterOrderId, minAgeSeconds, limit)
        .query((row, number) -> read(row))
        .list();
  }

  /** There is at least one order. */
  void markDone(Collection<OrderId> orders) {
    jdbc.sql(
            "UPDATE compensation SET done_at = NOW(6)"
                + " WHERE done_at IS NULL AND order_id IN (:orders)")
        .param("orders", Orders.ids(orders))
        .update();
  }

  /**
   * Has the units of these orders, confirmed by Redis or not, belong to a later epoch: its loading
   * took the units of all dead letters from stock and quota.
   */
  void moveTo(long epoch, Collection<OrderId> orders) {
    jdbc.sql(
            """
            UPDATE compensation c JOIN products p ON p.sku_id = c.sku_id
            SET c.quota_units =
                IF(p.policy = 'UNLIMITED', c.quota_units, GREATEST(c.quota_units, c.stock_units)),
              c.epoch = :epoch, c.done_at = NULL
            WHERE c.order_id IN (:orders) AND c.epoch < :epoch
            """)
        .param("epoch", epoch)
        .param("orders", Orders.ids(orders))
        .update();
  }

  /**
   * Results of the orders and aliases whose units are to be returned to Redis; none for an order
   * that has no row.
   */
  List<OrderResult> results(List<Compensation> compensations) {
    if (compensations.isEmpty()) {
      return List.of();
    }
    return jdbc.sql(
            """
            SELECT order_id, sku_id, user_id, status, reason, NULL AS stored_order_id FROM orders
            WHERE order_id IN (:orders)
            UNION ALL
            SELECT a.order_id, o.sku_id, o.user_id, 'REJECTED', NULL, a.stored_order_id
            FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id
            WHERE a.order_id IN (:orders)
            """)
        .param("orders", Orders.ids(compensations.stream().map(Compensation::orderId).toList()))
        .query((row, number) -> result(row))
        .list();
  }

  private static Compensation read(ResultSet row) throws SQLException {
    return new Compensation(
        new OrderId(row.getLong(1)),
        row.getLong(2),
        row.getLong(3),
        row.getLong(4),
        row.getInt(5),
        row.getInt(6),
        row.getString(7));
  }

  private static OrderResult result(ResultSet row) throws SQLException {
    String reason = row.getString(5);
    long stored = row.getLong(6);
    return new OrderResult(
        new OrderId(row.getLong(1)),
        row.getLong(2),
        row.getLong(3),
        OrderStatus.valueOf(row.getString(4)),
        reason == null ? null : RejectReason.valueOf(reason),
        stored == 0 ? null : new OrderId(stored),
        null);
  }
}
