package io.seckill.consumer.consistency;

import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.consistency.DatabaseSaleCounters.UnfinishedChange;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Reads the balance items of some SKUs from MySQL, all in one snapshot. Orders are summed from a
 * covering index; 100,000 of them take some 15 ms. Thread-safe.
 */
@Component
class DatabaseBalanceItems {

  private static final OrderTotals NONE = OrderTotals.NONE;

  private final JdbcClient jdbc;
  private final TransactionTemplate snapshot;

  DatabaseBalanceItems(JdbcClient jdbc, PlatformTransactionManager transactions) {
    this.jdbc = jdbc;
    this.snapshot = new TransactionTemplate(transactions);
    this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    this.snapshot.setReadOnly(true);
  }

  /** Units added and withdrawn by the stock changes that MySQL contains. */
  private record Changes(long added, long withdrawn) {}

  /**
   * @param settled orders settled, on the scale of {@link RedisSaleCounters#seq}
   * @param deadLetters readable open dead letters whose order is not stored
   */
  record Progress(long epoch, long settled, long deadLetters) {}

  /** Returns the progress of these SKUs; the cost does not depend on how much was sold. */
  Map<Long, Progress> progress(Collection<Long> skus) {
    return skus.isEmpty() ? Map.of() : inSnapshot(() -> readProgress(skus));
  }

  private Map<Long, Progress> readProgress(Collection<Long> skus) {
    Map<Long, OrderTotals> deadLetters = deadLetters(skus);
    Map<Long, Progress> progress = new HashMap<>();
    jdbc.sql("SELECT sku_id, epoch, settled FROM products WHERE sku_id IN (:skus)")
        .param("skus", skus)
        .query(
            row -> {
              long sku = row.getLong(1);
              progress.put(
                  sku,
                  new Progress(
                      row.getLong(2),
                      row.getLong(3),
                      deadLetters.getOrDefault(sku, NONE).orders()));
            });
    return progress;
  }

  /**
   * @return by SKU; one that MySQL does not know is absent
   */
  Map<Long, DatabaseSaleCounters> read(Collection<Long> skus) {
    return skus.isEmpty() ? Map.of() : inSnapshot(() -> readSales(skus));
  }

  /** Returns SKUs whose units can be sold or in flight, the latest sales first. */
  List<Long> watched(int most) {
    return jdbc.sql(
            "SELECT sku_id FROM products WHERE state IN ('PREHEATED', 'OPEN', 'PAUSED')"
                + " OR (state = 'CLOSED' AND closes_at > NOW() - INTERVAL 1 HOUR)"
                + " ORDER BY opens_at DESC, sku_id LIMIT ?")
        .param(most)
        .query(Long.class)
        .list();
  }

  private <T> T inSnapshot(Supplier<T> read) {
    return Objects.requireNonNull(snapshot.execute(tx -> read.get()));
  }

  private Map<Long, DatabaseSaleCounters> readSales(Collection<Long> skus) {
    Map<Long, Map<OrderStatus, OrderTotals>> orders = orders(skus);
    Map<Long, OrderTotals> aliases = aliases(skus);
    Map<Long, OrderTotals> deadLetters = deadLetters(skus);
    Map<Long, Long> compensating = compensating(skus);
    Map<Long, Changes> changes = changes(skus);
    Map<Long, List<UnfinishedChange>> unfinished = unfinished(skus);
    Map<Long, DatabaseSaleCounters> sales = new HashMap<>();
    jdbc.sql(
            "SELECT sku_id, state, epoch, stock, initial_stock, settled FROM products"
                + " WHERE sku_id IN (:skus)")
        .param("skus", skus)
        .query(
            row -> {
              long sku = row.getLong("sku_id");
              Changes change = changes.getOrDefault(sku, new Changes(0, 0));
              sales.put(
                  sku,
                  new DatabaseSaleCounters(
                      sku,
                      row.getString("state"),
                      row.getLong("epoch"),
                      row.getLong("stock"),
                      row.getLong("initial_stock"),
                      change.added(),
                      change.withdrawn(),
                      row.getLong("settled"),
                      orders.getOrDefault(sku, Map.of()),
                      aliases.getOrDefault(sku, NONE),
                      deadLetters.getOrDefault(sku, NONE),
                      compensating.getOrDefault(sku, 0L),
                      unfinished.getOrDefault(sku, List.of())));
            });
    return sales;
  }

  private Map<Long, Map<OrderStatus, OrderTotals>> orders(Collection<Long> skus) {
    Map<Long, Map<OrderStatus, OrderTotals>> sums = new HashMap<>();
    jdbc.sql(
            "SELECT sku_id, COUNT(*), COALESCE(SUM(quantity), 0), status FROM orders"
                + " WHERE sku_id IN (:skus) GROUP BY sku_id, status")
        .param("skus", skus)
        .query(
            row -> {
              sums.computeIfAbsent(row.getLong(1), sku -> new EnumMap<>(OrderStatus.class))
                  .put(OrderStatus.valueOf(row.getString(4)), sum(row));
            });
    return sums;
  }

  /**
   * Aliases are few, because only a loss of data creates them. The units that each one asked for
   * are in its compensation.
   */
  private Map<Long, OrderTotals> aliases(Collection<Long> skus) {
    return sums(
        "SELECT g.sku_id, COUNT(*), COALESCE(SUM(g.stock_units), 0)"
            + " FROM order_alias a STRAIGHT_JOIN compensation g ON g.order_id = a.order_id"
            + " WHERE g.sku_id IN (:skus) GROUP BY g.sku_id",
        skus);
  }

  /** Leaves out orders that are also stored or recorded as an alias: they are counted there. */
  private Map<Long, OrderTotals> deadLetters(Collection<Long> skus) {
    return sums(
        "SELECT d.sku_id, COUNT(DISTINCT d.order_id), COALESCE(SUM(CAST(JSON_UNQUOTE(JSON_EXTRACT("
            + "CONVERT(d.payload USING utf8mb4), '$.quantity')) AS SIGNED)), 0)"
            + " FROM dead_letter d WHERE d.state = 'OPEN' AND d.sku_id IN (:skus)"
            + " AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.order_id = d.order_id)"
            + " AND NOT EXISTS (SELECT 1 FROM order_alias a WHERE a.order_id = d.order_id)"
            + " GROUP BY d.sku_id",
        skus);
  }

  /** Leaves out units of an older epoch: a later preheat has already counted them. */
  private Map<Long, Long> compensating(Collection<Long> skus) {
    Map<Long, Long> units = new HashMap<>();
    jdbc.sql(
            "SELECT g.sku_id, SUM(g.stock_units) FROM compensation g"
                + " JOIN products p ON p.sku_id = g.sku_id AND p.epoch = g.epoch"
                + " WHERE g.done_at IS NULL AND g.sku_id IN (:skus) GROUP BY g.sku_id")
        .param("skus", skus)
        .query(
            row -> {
              units.put(row.getLong(1), row.getLong(2));
            });
    return units;
  }

  private Map<Long, Changes> changes(Collection<Long> skus) {
    Map<Long, Changes> changes = new HashMap<>();
    jdbc.sql(
            "SELECT sku_id, COALESCE(SUM(IF(delta > 0, delta, 0)), 0),"
                + " COALESCE(SUM(IF(delta < 0, -delta, 0)), 0) FROM stock_change"
                + " WHERE sku_id IN (:skus) AND state IN ('MYSQL_DONE', 'DONE') GROUP BY sku_id")
        .param("skus", skus)
        .query(
            row -> {
              changes.put(row.getLong(1), new Changes(row.getLong(2), row.getLong(3)));
            });
    return changes;
  }

  private Map<Long, List<UnfinishedChange>> unfinished(Collection<Long> skus) {
    Map<Long, List<UnfinishedChange>> changes = new HashMap<>();
    jdbc.sql(
            "SELECT sku_id, change_id, delta, epoch, state FROM stock_change"
                + " WHERE state IN ('PENDING', 'MYSQL_DONE', 'UNDOING') AND sku_id IN (:skus)")
        .param("skus", skus)
        .query(
            row -> {
              changes
                  .computeIfAbsent(row.getLong(1), sku -> new ArrayList<>())
                  .add(
                      new UnfinishedChange(
                          row.getString(2),
                          row.getLong(3),
                          row.getLong(4),
                          "MYSQL_DONE".equals(row.getString(5))));
            });
    return changes;
  }

  private Map<Long, OrderTotals> sums(String sql, Collection<Long> skus) {
    Map<Long, OrderTotals> sums = new HashMap<>();
    jdbc.sql(sql)
        .param("skus", skus)
        .query(
            row -> {
              sums.put(row.getLong(1), sum(row));
            });
    return sums;
  }

  private static OrderTotals sum(ResultSet row) throws SQLException {
    return new OrderTotals(row.getLong(2), row.getLong(3));
  }
}
