package io.seckill.bench.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads MySQL's rows without the services. One connection, one thread. */
public final class StoredRows implements AutoCloseable {

  private final Connection mysql;

  public StoredRows(Connection mysql) {
    this.mysql = mysql;
  }

  /**
   * Returns the units of a SKU's stored orders, which is their number, since each is for one unit.
   */
  public long stored(BenchSale sale) throws SQLException {
    return number("SELECT initial_stock - stock FROM products WHERE sku_id = " + sale.skuId());
  }

  /** Returns the units of the stored orders of all these sales. */
  public long stored(Collection<BenchSale> sales) throws SQLException {
    return number(
        "SELECT SUM(initial_stock - stock) FROM products WHERE sku_id IN (" + ids(sales) + ")");
  }

  /** Returns the number of confirmed orders of all these sales. */
  public long confirmed(Collection<BenchSale> sales) throws SQLException {
    return number(
        "SELECT COUNT(*) FROM orders WHERE status = 'CONFIRMED' AND sku_id IN ("
            + ids(sales)
            + ")");
  }

  /** Returns what is recorded of a SKU. */
  public Sold sold(BenchSale sale) throws SQLException {
    String orders = " FROM orders WHERE sku_id = " + sale.skuId();
    return new Sold(
        number("SELECT COUNT(*)" + orders),
        number("SELECT COUNT(DISTINCT user_id, request_id)" + orders),
        number(
            "SELECT COALESCE(MAX(units), 0) FROM (SELECT SUM(quantity) AS units"
                + orders
                + " GROUP BY user_id) each_user"),
        stored(sale));
  }

  /** Returns the number of compensations that Redis has not confirmed. */
  public long pendingCompensations() throws SQLException {
    return number("SELECT COUNT(*) FROM compensation WHERE done_at IS NULL");
  }

  /** Returns the row lock waits of all sessions since the server started. */
  public long rowLockWaits() throws SQLException {
    return number("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'", 2);
  }

  /**
   * Waits until {@code orders} orders of a SKU are stored, at most 3 minutes.
   *
   * @return how many are missing; 0 also when more are stored
   */
  public long missing(BenchSale sale, long orders) {
    return Waiting.missing(orders, () -> stored(sale));
  }

  /** Returns rows of these SKUs per second, from the first to the last row written. */
  public double rowsPerSecond(Collection<BenchSale> sales) throws SQLException {
    return number(
        "SELECT COUNT(*) * 1000000.0"
            + " / TIMESTAMPDIFF(MICROSECOND, MIN(created_at), MAX(created_at))"
            + " FROM orders WHERE sku_id IN ("
            + ids(sales)
            + ")");
  }

  /** Returns the ids of the confirmed orders from one id to another, both included. */
  public List<Long> confirmedBetween(long firstId, long lastId) throws SQLException {
    List<Long> ids = new ArrayList<>();
    String sql =
        "SELECT order_id FROM orders WHERE order_id BETWEEN ? AND ? AND status = 'CONFIRMED'";
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setLong(1, firstId);
      select.setLong(2, lastId);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getLong(1));
        }
      }
    }
    return ids;
  }

  /** When the INSERT of each order of a SKU began, by order id: µs since 1970. */
  public Map<Long, Long> insertedMicros(BenchSale sale) throws SQLException {
    Map<Long, Long> micros = new HashMap<>();
    String sql =
        "SELECT order_id, CAST(UNIX_TIMESTAMP(created_at) * 1000000 AS UNSIGNED) FROM orders"
            + " WHERE sku_id = "
            + sale.skuId();
    try (PreparedStatement select = mysql.prepareStatement(sql);
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        micros.put(rows.getLong(1), rows.getLong(2));
      }
    }
    return micros;
  }

  private long number(String sql) throws SQLException {
    return number(sql, 1);
  }

  private long number(String sql, int column) throws SQLException {
    try (PreparedStatement select = mysql.prepareStatement(sql);
        ResultSet rows = select.executeQuery()) {
      rows.next();
      return rows.getLong(column);
    }
  }

  private static String ids(Collection<BenchSale> sales) {
    return sales.stream().map(sale -> "" + sale.skuId()).collect(Collectors.joining(","));
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
