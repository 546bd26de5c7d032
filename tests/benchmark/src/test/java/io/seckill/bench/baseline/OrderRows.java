package io.seckill.bench.baseline;

import io.seckill.bench.lab.BenchSale;
import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The rows of order-consumer: orders, quotas and stock, written through JDBC with its guards. The
 * statements are prepared for a fixed number of orders of one SKU. One connection, one thread; the
 * caller commits.
 */
final class OrderRows {

  private final PreparedStatement orders;
  private final PreparedStatement quota;
  private final PreparedStatement stock;

  /** Sets the connection to the consumer's isolation level, without automatic commits. */
  OrderRows(Connection mysql, int size) throws SQLException {
    mysql.setAutoCommit(false);
    mysql.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    orders =
        mysql.prepareStatement(
            "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents,"
                + " request_id, status, epoch, seq, admitted_at) VALUES "
                + times(size, "(?,?,?,1,1999,?,'CONFIRMED',?,?,?)"));
    quota =
        mysql.prepareStatement(
            "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units) VALUES "
                + times(size, "(?,?,1," + BenchSale.UNITS_PER_USER + ")")
                + " ON DUPLICATE KEY UPDATE owned_count = owned_count + VALUES(owned_count)");
    stock =
        mysql.prepareStatement(
            "UPDATE products SET stock = stock - ?, settled = settled + ?,"
                + " last_seq = GREATEST(last_seq, ?) WHERE sku_id = ? AND stock >= ?");
  }

  /**
   * Inserts the orders and adds to the quotas.
   *
   * @throws SQLException also when a request is stored already or a quota is exceeded
   */
  void insert(List<OrderMessage> batch) throws SQLException {
    int order = 1;
    int owner = 1;
    for (OrderMessage message : batch) {
      orders.setLong(order++, message.orderId().value());
      orders.setLong(order++, message.userId());
      orders.setLong(order++, message.skuId());
      orders.setString(order++, message.requestId());
      orders.setLong(order++, message.epoch());
      orders.setLong(order++, message.seq());
      orders.setTimestamp(order++, new Timestamp(message.admittedAt()));
      quota.setLong(owner++, message.userId());
      quota.setLong(owner++, message.skuId());
    }
    orders.executeUpdate();
    quota.executeUpdate();
  }

  /** Takes the units from the stock, or nothing and returns false when there are too few. */
  boolean takeStock(List<OrderMessage> batch) throws SQLException {
    OrderMessage last = batch.get(batch.size() - 1);
    stock.setInt(1, batch.size());
    stock.setInt(2, batch.size());
    stock.setLong(3, last.seq());
    stock.setLong(4, last.skuId());
    stock.setInt(5, batch.size());
    return stock.executeUpdate() == 1;
  }

  /** Returns the text so many times, with commas between. */
  static String times(int size, String text) {
    return IntStream.range(0, size).mapToObj(i -> text).collect(Collectors.joining(","));
  }
}
