package io.seckill.consumer.storage;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.orders.SkuProgress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The statements on {@code products}. */
final class ProductTable {

  private static final String TAKE =
      "UPDATE products SET stock = stock - ?, last_seq = GREATEST(last_seq, ?),"
          + " settled = settled + ? WHERE sku_id = ? AND stock >= ?";

  private ProductTable() {}

  /** Reads without locking; a SKU that does not exist is missing from the result. */
  static Map<Long, SaleRules> terms(Connection connection, Collection<Long> skus)
      throws SQLException {
    String sql =
        "SELECT sku_id, price_cents, policy, limit_per_user FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ")";
    Map<Long, SaleRules> found = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      Sql.setLongs(select, 1, skus);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          PurchasePolicy policy = PurchasePolicy.valueOf(row.getString(3));
          int limit = policy == PurchasePolicy.ONE_PER_USER ? 1 : row.getInt(4);
          found.put(row.getLong(1), new SaleRules(row.getLong(1), row.getLong(2), policy, limit));
        }
      }
    }
    return found;
  }

  /** Locks the rows in the order of SKUs, as every writer does, and reads their stock. */
  static Map<Long, Long> lockStock(Connection connection, Collection<Long> skus)
      throws SQLException {
    String sql =
        "SELECT sku_id, stock FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ") ORDER BY sku_id FOR UPDATE";
    Map<Long, Long> stock = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      Sql.setLongs(select, 1, skus);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          stock.put(row.getLong(1), row.getLong(2));
        }
      }
    }
    return stock;
  }

  /**
   * Takes units and advances the SKU's progress.
   *
   * @param units 0 when all orders were refused
   * @param orders settled, at least 1, so that the row changes and counts as affected
   * @return false when there is less stock than that: nothing is taken
   */
  static boolean take(Connection connection, long sku, long units, int orders, long lastSeq)
      throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(TAKE)) {
      update.setLong(1, units);
      update.setLong(2, lastSeq);
      update.setInt(3, orders);
      update.setLong(4, sku);
      update.setLong(5, units);
      return update.executeUpdate() == 1;
    }
  }

  /** The progress of these SKUs, as this transaction sees it. */
  static List<SkuProgress> progress(Connection connection, Collection<Long> skus)
      throws SQLException {
    String sql =
        "SELECT sku_id, epoch, settled FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ")";
    List<SkuProgress> progress = new ArrayList<>(skus.size());
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      Sql.setLongs(select, 1, skus);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          progress.add(new SkuProgress(row.getLong(1), row.getLong(2), row.getLong(3)));
        }
      }
    }
    return progress;
  }
}
