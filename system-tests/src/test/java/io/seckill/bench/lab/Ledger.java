package io.seckill.bench.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** What MySQL has stored, read past the services. One connection, one thread. */
public final class Ledger implements AutoCloseable {

  private final Connection mysql;

  public Ledger(Connection mysql) {
    this.mysql = mysql;
  }

  /** Units of a SKU stored as orders: as many as orders, since each is for one. */
  public long stored(Sale sale) throws SQLException {
    return number("SELECT initial_stock - stock FROM products WHERE sku_id = " + sale.skuId());
  }

  /** Units stored of all these. */
  public long stored(Collection<Sale> sales) throws SQLException {
    return number(
        "SELECT SUM(initial_stock - stock) FROM products WHERE sku_id IN (" + ids(sales) + ")");
  }

  /** Rows of these SKUs a second, from the first to the last row written. */
  public double rowsPerSecond(Collection<Sale> sales) throws SQLException {
    return number(
        "SELECT COUNT(*) * 1000000.0"
            + " / TIMESTAMPDIFF(MICROSECOND, MIN(created_at), MAX(created_at))"
            + " FROM orders WHERE sku_id IN ("
            + ids(sales)
            + ")");
  }

  /** Of these order ids, those that are stored. */
  public Set<String> storedOf(Collection<String> orderIds) throws SQLException {
    Set<String> found = new HashSet<>();
    if (orderIds.isEmpty()) {
      return found;
    }
    String sql =
        "SELECT order_id FROM orders WHERE order_id IN (" + String.join(",", orderIds) + ")";
    try (PreparedStatement select = mysql.prepareStatement(sql);
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }

  private long number(String sql) throws SQLException {
    try (PreparedStatement select = mysql.prepareStatement(sql);
        ResultSet rows = select.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static String ids(Collection<Sale> sales) {
    return sales.stream().map(sale -> "" + sale.skuId()).collect(Collectors.joining(","));
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
