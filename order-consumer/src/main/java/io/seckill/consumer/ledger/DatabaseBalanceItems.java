package io.seckill.consumer.ledger;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.Item;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.UnfinishedChange;
import io.seckill.consumer.ledger.RedisBalanceItems.RedisSaleCounters;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.OrderTotals;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Reads the balance items of some SKUs from MySQL, all in one snapshot; the cost does not depend on
 * how much was sold. Thread-safe.
 */
@Component
class DatabaseBalanceItems {

  /**
   * Leaves out orders that are also stored or recorded as an alias: they are counted there. An
   * order that was pushed twice may have two dead letters.
   */
  private static final String DEAD_LETTERS =
      """
      SELECT d.sku_id, 'DEAD_LETTERS' AS item, COUNT(*) AS orders,
      SUM(CAST(JSON_UNQUOTE(JSON_EXTRACT(
        CONVERT(d.payload USING utf8mb4), '$.quantity')) AS SIGNED)) AS units
      FROM dead_letter d WHERE d.state = 'OPEN' AND d.sku_id IN (:skus)
      AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.order_id = d.order_id)
      AND NOT EXISTS (SELECT 1 FROM order_alias a WHERE a.order_id = d.order_id)
      AND NOT EXISTS (SELECT 1 FROM dead_letter e
        WHERE e.order_id = d.order_id AND e.state = 'OPEN' AND e.id < d.id)
      GROUP BY d.sku_id
      """;

  /**
   * One row for each SKU and item that no table of sums has. Compensations of an older epoch are
   * left out: a later preheat has already counted their units. So are the changes of shards, which
   * are moves: a sale makes any number of them, and its total has them.
   */
  private static final String SUMS =
      """
      SELECT g.sku_id, 'COMPENSATING' AS item, COUNT(*) AS orders, SUM(g.stock_units) AS units
      FROM compensation g
      JOIN products p ON p.sku_id = g.sku_id AND p.epoch = g.epoch
      WHERE g.done_at IS NULL AND g.sku_id IN (:skus) GROUP BY g.sku_id
      UNION ALL
      SELECT sku_id, IF(delta > 0, 'ADDED', 'WITHDRAWN') AS item, COUNT(*), SUM(ABS(delta))
      FROM stock_change
      WHERE sku_id IN (:skus) AND state IN ('MYSQL_DONE', 'DONE')
      """
          + " AND sku_id < "
          + Shards.FIRST_ID
          + " GROUP BY sku_id, item UNION ALL "
          + DEAD_LETTERS;

  private final JdbcClient jdbc;
  private final TransactionTemplate snapshot;

  DatabaseBalanceItems(JdbcClient jdbc, PlatformTransactionManager transactions) {
    this.jdbc = jdbc;
    this.snapshot = new TransactionTemplate(transactions);
    this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    this.snapshot.setReadOnly(true);
  }

  /**
   * @param settled orders settled, on the scale of {@link RedisSaleCounters#seq}
   * @param deadLetters readable open dead letters whose order is not stored
   */
  record Progress(long epoch, long settled, long deadLetters) {}

  Map<Long, Progress> progress(Collection<Long> skus) {
    return skus.isEmpty() ? Map.of() : snapshot.execute(tx -> readProgress(skus));
  }

  private Map<Long, Progress> readProgress(Collection<Long> skus) {
    Map<Long, Map<Item, OrderTotals>> dead = sums(DEAD_LETTERS, skus);
    Map<Long, Progress> progress = new HashMap<>();
    read(
        "SELECT sku_id, epoch, settled FROM products WHERE sku_id IN (:skus)",
        skus,
        row -> {
          long sku = row.getLong(1);
          OrderTotals open =
              dead.getOrDefault(sku, Map.of()).getOrDefault(Item.DEAD_LETTERS, OrderTotals.NONE);
          progress.put(sku, new Progress(row.getLong(2), row.getLong(3), open.orders()));
        });
    return progress;
  }

  /**
   * @return by SKU; one that is not in MySQL is absent
   */
  Map<Long, DatabaseSaleCounters> read(Collection<Long> skus) {
    return skus.isEmpty() ? Map.of() : snapshot.execute(tx -> readSales(skus));
  }

  private Map<Long, DatabaseSaleCounters> readSales(Collection<Long> skus) {
    Map<Long, Map<Item, OrderTotals>> sums = sums(SUMS, skus);
    OrderTotalTable.read(jdbc, skus)
        .forEach(
            (sku, fates) ->
                sums.computeIfAbsent(sku, id -> new EnumMap<>(Item.class)).putAll(items(fates)));
    Map<Long, List<UnfinishedChange>> unfinished = unfinished(skus);
    Map<Long, DatabaseSaleCounters> sales = new HashMap<>();
    read(
        "SELECT sku_id, sale_phase, state, closes_at <= UTC_TIMESTAMP(3) AS ended, epoch, stock,"
            + " initial_stock, settled FROM products WHERE sku_id IN (:skus)",
        skus,
        row -> {
          long sku = row.getLong("sku_id");
          sales.put(
              sku,
              new DatabaseSaleCounters(
                  sku,
                  SalePhase.valueOf(row.getString("sale_phase")).decider(),
                  row.getString("state"),
                  row.getBoolean("ended"),
                  row.getLong("epoch"),
                  row.getLong("stock"),
                  row.getLong("initial_stock"),
                  row.getLong("settled"),
                  sums.getOrDefault(sku, Map.of()),
                  unfinished.getOrDefault(sku, List.of())));
        });
    return sales;
  }

  /** An order that was CONFIRMED and has moved on is counted where it is now. */
  private static Map<Item, OrderTotals> items(Map<OrderFate, OrderTotals> fates) {
    Map<Item, OrderTotals> items = new EnumMap<>(Item.class);
    fates.forEach((fate, totals) -> items.put(Item.valueOf(fate.name()), totals));
    OrderTotals moved =
        Stream.of(OrderFate.PAID, OrderFate.CANCELLED, OrderFate.EXPIRED)
            .map(fate -> fates.getOrDefault(fate, OrderTotals.NONE))
            .reduce(OrderTotals.NONE, OrderTotals::plus);
    items.computeIfPresent(Item.CONFIRMED, (item, totals) -> totals.minus(moved));
    return items;
  }

  /** Those of these SKUs whose sales MySQL alone decides, each with its shards if it has some. */
  Map<Long, List<Long>> strongAmong(Collection<Long> skus) {
    Map<Long, List<Long>> strong = new HashMap<>();
    read(
        "SELECT sku_id, IF(state = 'NEW', 1, shards) FROM products WHERE "
            + SalePhase.REDIS_DOES_NOT_DECIDE
            + " AND sku_id IN (:skus)",
        skus,
        row -> strong.put(row.getLong(1), Shards.ids(row.getLong(1), row.getInt(2))));
    return strong;
  }

  /**
   * Returns SKUs whose units can be sold or in flight: first those whose sale has begun and is not
   * closed, then those closed, then the coming ones; none whose closing time is more than an hour
   * ago; of each kind first those that opened, or open, nearest to now.
   */
  List<Long> watched(int most) {
    return jdbc.sql(
            "SELECT sku_id FROM products WHERE state <> 'NEW' AND sku_id < "
                + Shards.FIRST_ID
                + " AND closes_at > NOW() - INTERVAL 1 HOUR"
                + " ORDER BY CASE WHEN state <> 'CLOSED' AND opens_at <= NOW() THEN 0"
                + " WHEN state = 'CLOSED' THEN 1 ELSE 2 END,"
                + " ABS(TIMESTAMPDIFF(SECOND, opens_at, NOW())), sku_id LIMIT ?")
        .param(most)
        .query(Long.class)
        .list();
  }

  private Map<Long, Map<Item, OrderTotals>> sums(String sql, Collection<Long> skus) {
    Map<Long, Map<Item, OrderTotals>> sums = new HashMap<>();
    read(
        sql,
        skus,
        row ->
            sums.computeIfAbsent(row.getLong("sku_id"), sku -> new EnumMap<>(Item.class))
                .put(
                    Item.valueOf(row.getString("item")),
                    new OrderTotals(row.getLong("orders"), row.getLong("units"))));
    return sums;
  }

  private Map<Long, List<UnfinishedChange>> unfinished(Collection<Long> skus) {
    Map<Long, List<UnfinishedChange>> changes = new HashMap<>();
    read(
        "SELECT sku_id, change_id, delta, epoch, state = 'MYSQL_DONE' FROM stock_change"
            + " FORCE INDEX (ix_stock_change_state)"
            + " WHERE state IN ('PENDING', 'MYSQL_DONE', 'UNDOING') AND sku_id IN (:skus)",
        skus,
        row ->
            changes
                .computeIfAbsent(row.getLong(1), sku -> new ArrayList<>())
                .add(
                    new UnfinishedChange(
                        row.getString(2), row.getLong(3), row.getLong(4), row.getBoolean(5))));
    return changes;
  }

  private void read(String sql, Collection<Long> skus, RowCallbackHandler each) {
    if (!skus.isEmpty()) { // IN () is not SQL
      jdbc.sql(sql).param("skus", skus).query(each);
    }
  }

  /**
   * The counters of one SKU in MySQL, all read in one snapshot.
   *
   * @param decides the store that decides its purchases
   * @param ended whether its closing time has passed
   * @param stock units still sellable (sd)
   * @param total opening stock + added - withdrawn (S)
   * @param settled orders settled, on the scale of {@link RedisSaleCounters#seq}
   * @param sums of the SKU's rows; an item without rows is absent
   * @param unfinished stock changes that at least one store may not contain yet
   */
  record DatabaseSaleCounters(
      long skuId,
      Decider decides,
      String state,
      boolean ended,
      long epoch,
      long stock,
      long total,
      long settled,
      Map<Item, OrderTotals> sums,
      List<UnfinishedChange> unfinished) {

    /** Rows that are summed. The first five are the orders of that status. */
    enum Item {
      CONFIRMED,
      PAID,
      CANCELLED,
      EXPIRED,
      REJECTED,
      /** Second orders of a request for which MySQL had already stored another order. */
      ALIASES,
      /** Readable open dead letters whose order is not stored. */
      DEAD_LETTERS,
      /** Units to be returned to Redis that it has not confirmed, of the present epoch. */
      COMPENSATING,
      /** Stock changes that stock and total contain; none of a shard. */
      ADDED,
      WITHDRAWN
    }

    private static final Set<Item> DECIDED = EnumSet.range(Item.CONFIRMED, Item.ALIASES);

    /**
     * A stock change that is being carried from one store to the other.
     *
     * @param delta units, positive adds
     * @param inMySql whether stock and total contain it
     */
    record UnfinishedChange(String changeId, long delta, long epoch, boolean inMySql) {}

    OrderTotals of(Item item) {
      return sums.getOrDefault(item, OrderTotals.NONE);
    }

    /** Every order on which MySQL has made its final decision. */
    OrderTotals decided() {
      return DECIDED.stream().map(this::of).reduce(OrderTotals.NONE, OrderTotals::plus);
    }
  }
}
