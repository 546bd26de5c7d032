package io.seckill.consumer.storage;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.orders.SkuProgress;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.JdbcOperations;

/** The statements on {@code products}. */
final class ProductTable {

  private static final String TAKE =
      "UPDATE products SET reserved_units ="
          + " LEAST(stock - ?,"
          + " GREATEST(0, reserved_units - IF(reserves_all, ?, IF(? < epoch - 1, 0, ?)))),"
          + " stock = stock - ?, last_seq = "
          + ProductRows.RAISED_SEQ
          + ", settled = settled + ?"
          + " WHERE sku_id = ? AND stock >= ?";

  private static final String TAKE_STRONG =
      "UPDATE products SET stock = stock - ?, last_seq = last_seq + ?, settled = settled + ?"
          + " WHERE sku_id = ? AND "
          + SalePhase.SELLABLE_UNITS
          + " >= ? AND state_version = ?";

  /** A fallback has raised the epoch above that of Redis by one. */
  private static final String ADD_LATE =
      """
      INSERT INTO admitted_units (sku_id, epoch, units, unknown_orders, late_units)
      SELECT p.sku_id, p.epoch - (p.sale_phase IN ('ENTERING', 'MYSQL')), 0, FALSE, ?
      FROM products p
      WHERE p.sku_id = ? AND ? < p.epoch - (p.sale_phase IN ('ENTERING', 'MYSQL'))
      ON DUPLICATE KEY UPDATE
      units = IF(VALUES(epoch) > admitted_units.epoch, 0, units),
      unknown_orders = IF(VALUES(epoch) > admitted_units.epoch, FALSE, unknown_orders),
      late_units = IF(VALUES(epoch) > admitted_units.epoch, 0, late_units) + VALUES(late_units),
      epoch = GREATEST(admitted_units.epoch, VALUES(epoch))
      """;

  private ProductTable() {}

  /**
   * Reads without locking; a SKU that does not exist, or that is a strong sale, is missing from the
   * result. A sale in a fallback is not: Redis has admitted orders of it before.
   */
  static Map<Long, SaleRules> rules(JdbcOperations jdbc, Collection<Long> skus) {
    String sql =
        "SELECT sku_id, price_cents, policy, limit_per_user FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ") AND "
            + SalePhase.OF_REDIS;
    return jdbc.query(sql, Sql.map(row -> row.getLong(1), ProductTable::read), skus.toArray());
  }

  static Set<Long> archived(JdbcOperations jdbc, Collection<Long> skus) {
    String sql =
        "SELECT sku_id FROM products WHERE archived AND sku_id IN (" + Sql.marks(skus.size()) + ")";
    return Set.copyOf(jdbc.queryForList(sql, Long.class, skus.toArray()));
  }

  private static SaleRules read(ResultSet row) throws SQLException {
    return SaleRules.of(
        row.getLong(1), row.getLong(2), PurchasePolicy.valueOf(row.getString(3)), row.getInt(4));
  }

  /** Locks the rows in the order of SKUs, as every writer does, and reads their stock. */
  static Map<Long, Long> lockStock(JdbcOperations jdbc, Collection<Long> skus) {
    String sql =
        "SELECT sku_id, stock FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ") ORDER BY sku_id FOR UPDATE";
    return jdbc.query(sql, Sql.map(row -> row.getLong(1), row -> row.getLong(2)), skus.toArray());
  }

  /**
   * Takes units and advances the SKU's progress. The reserve of a fallback shrinks by the units of
   * all these orders that Redis had admitted in its last epoch, or, if the fallback began with all
   * stock reserved, by those that are stored.
   *
   * @param units 0 when all orders were refused
   * @param epoch the latest of the orders
   * @param promised units of all orders of this epoch
   * @param orders settled, at least 1, so that the row changes and counts as affected
   * @return false when there is less stock than that: nothing is taken
   */
  static boolean take(
      JdbcOperations jdbc,
      long sku,
      long units,
      long epoch,
      long promised,
      int orders,
      long lastSeq) {
    return jdbc.update(TAKE, units, units, epoch, promised, units, lastSeq, orders, sku, units)
        == 1;
  }

  /**
   * Counts units of orders of this epoch that were stored after Redis had begun another one; else
   * does nothing.
   */
  static void addLate(JdbcOperations jdbc, long sku, long epoch, long units) {
    jdbc.update(ADD_LATE, units, sku, epoch);
  }

  /**
   * Takes units of a strong sale, none of those that are reserved.
   *
   * @param orders stored, at least 1
   * @param version of the sale when the purchases were decided
   * @return false when less than that is free, or the sale has changed: nothing is taken
   */
  static boolean takeStrong(JdbcOperations jdbc, long sku, long units, int orders, long version) {
    return jdbc.update(TAKE_STRONG, units, orders, orders, sku, units, version) == 1;
  }

  /** The progress of these SKUs, as this transaction sees it. */
  static List<SkuProgress> progress(JdbcOperations jdbc, Collection<Long> skus) {
    String sql =
        "SELECT sku_id, epoch, settled, NOW(6) AS now_at FROM products WHERE sku_id IN ("
            + Sql.marks(skus.size())
            + ")";
    return jdbc.query(
        sql,
        (row, number) ->
            new SkuProgress(
                row.getLong(1),
                row.getLong(2),
                row.getLong(3),
                UtcColumn.instant(row, "now_at").toEpochMilli()),
        skus.toArray());
  }
}
