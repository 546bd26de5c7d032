package io.seckill.consumer.compensation;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.results.OrderResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Reads the results of orders whose units are to be returned to Redis. */
final class PendingResults {

  private PendingResults() {}

  /** The results of orders and of aliases; none for an order that has no row. */
  static List<OrderResult> of(Connection connection, List<Compensation> owed) throws SQLException {
    List<OrderResult> results = new ArrayList<>(owed.size());
    if (owed.isEmpty()) {
      return results;
    }
    String marks = String.join(",", Collections.nCopies(owed.size(), "?"));
    String sql =
        "SELECT order_id, sku_id, user_id, status, reason, NULL AS stored_order_id FROM orders"
            + " WHERE order_id IN ("
            + marks
            + ") UNION ALL SELECT a.order_id, o.sku_id, o.user_id, 'REJECTED', NULL,"
            + " a.stored_order_id FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id"
            + " WHERE a.order_id IN ("
            + marks
            + ")";
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      for (int i = 0; i < owed.size(); i++) {
        select.setLong(i + 1, owed.get(i).orderId().value());
        select.setLong(owed.size() + i + 1, owed.get(i).orderId().value());
      }
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          results.add(result(row));
        }
      }
    }
    return results;
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
        stored == 0 ? null : new OrderId(stored));
  }
}
