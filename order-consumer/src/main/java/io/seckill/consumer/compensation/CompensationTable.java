package io.seckill.consumer.compensation;

import io.seckill.common.order.OrderId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** The statements on {@code compensation}. */
final class CompensationTable {

  private static final String COLUMNS =
      "order_id, sku_id, user_id, epoch, stock_units, quota_units";
  private static final String ROW = "(?, ?, ?, ?, ?, ?)";

  private CompensationTable() {}

  /**
   * @throws SQLException also when one of the orders has a row already: an order is compensated
   *     once
   */
  static void insert(Connection connection, Collection<Compensation> owed) throws SQLException {
    if (owed.isEmpty()) {
      return;
    }
    String sql = "INSERT INTO compensation (" + COLUMNS + ") VALUES " + repeated(ROW, owed.size());
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      int at = 1;
      for (Compensation one : owed) {
        insert.setLong(at++, one.orderId().value());
        insert.setLong(at++, one.skuId());
        insert.setLong(at++, one.userId());
        insert.setLong(at++, one.epoch());
        insert.setInt(at++, one.stockUnits());
        insert.setInt(at++, one.quotaUnits());
      }
      insert.executeUpdate();
    }
  }

  /** Compensations of these orders that Redis has not confirmed. */
  static List<Compensation> pendingOf(Connection connection, Collection<OrderId> orders)
      throws SQLException {
    if (orders.isEmpty()) {
      return List.of();
    }
    String sql =
        "SELECT "
            + COLUMNS
            + " FROM compensation WHERE done_at IS NULL AND order_id IN ("
            + repeated("?", orders.size())
            + ")";
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      setIds(select, orders);
      return read(select);
    }
  }

  /** Compensations of these orders, confirmed by Redis or not. */
  static List<Compensation> of(Connection connection, Collection<OrderId> orders)
      throws SQLException {
    String sql =
        "SELECT "
            + COLUMNS
            + " FROM compensation WHERE order_id IN ("
            + repeated("?", orders.size())
            + ")";
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      setIds(select, orders);
      return read(select);
    }
  }

  /**
   * A page of the compensations that Redis has not confirmed, by order id.
   *
   * @param afterOrderId 0 for the first page
   * @param minAgeSeconds leaves out younger rows: their first delivery may still be under way
   */
  static List<Compensation> pending(
      Connection connection, long afterOrderId, int minAgeSeconds, int limit) throws SQLException {
    String sql =
        "SELECT "
            + COLUMNS
            + " FROM compensation WHERE done_at IS NULL AND order_id > ?"
            + " AND created_at <= NOW(6) - INTERVAL ? SECOND ORDER BY order_id LIMIT ?";
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setLong(1, afterOrderId);
      select.setInt(2, minAgeSeconds);
      select.setInt(3, limit);
      return read(select);
    }
  }

  static void markDone(Connection connection, Collection<OrderId> orders) throws SQLException {
    if (orders.isEmpty()) {
      return;
    }
    String sql =
        "UPDATE compensation SET done_at = NOW(6) WHERE done_at IS NULL AND order_id IN ("
            + repeated("?", orders.size())
            + ")";
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      setIds(update, orders);
      update.executeUpdate();
    }
  }

  static long countPending(Connection connection) throws SQLException {
    String sql = "SELECT COUNT(*) FROM compensation WHERE done_at IS NULL";
    try (PreparedStatement select = connection.prepareStatement(sql);
        ResultSet rows = select.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static List<Compensation> read(PreparedStatement select) throws SQLException {
    List<Compensation> found = new ArrayList<>();
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        found.add(
            new Compensation(
                new OrderId(row.getLong(1)),
                row.getLong(2),
                row.getLong(3),
                row.getLong(4),
                row.getInt(5),
                row.getInt(6)));
      }
    }
    return found;
  }

  private static void setIds(PreparedStatement statement, Collection<OrderId> orders)
      throws SQLException {
    int at = 1;
    for (OrderId order : orders) {
      statement.setLong(at++, order.value());
    }
  }

  private static String repeated(String item, int times) {
    return String.join(",", Collections.nCopies(times, item));
  }
}
