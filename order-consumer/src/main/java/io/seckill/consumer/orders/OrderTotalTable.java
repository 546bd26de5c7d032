package io.seckill.consumer.orders;

import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The statements on {@code order_total}: the orders of each SKU by their fate. Every transaction
 * that decides an order adds to it, after the product rows, as its last lock; nobody else writes
 * there. So the sums cost the same after ten orders and after ten million.
 */
public final class OrderTotalTable {

  /** SQL: the number of orders of a row of {@code products} on which MySQL has decided. */
  public static final String DECIDED_ORDERS =
      "(SELECT COALESCE(SUM(t.orders), 0) FROM order_total t WHERE t.sku_id = products.sku_id"
          + " AND t.fate IN ('CONFIRMED', 'REJECTED', 'ALIASES'))";

  private static final String ROW = "(?,?,?,?)";

  private OrderTotalTable() {}

  /** The orders that one transaction adds. */
  public static final class Addition {

    private final SortedMap<Long, Map<OrderFate, OrderTotals>> skus = new TreeMap<>();

    public void add(long sku, OrderFate fate, long units) {
      skus.computeIfAbsent(sku, id -> new EnumMap<>(OrderFate.class))
          .merge(fate, new OrderTotals(1, units), OrderTotals::plus);
    }

    /** Adds in the order of SKUs, as every writer does. */
    public void write(JdbcOperations jdbc) {
      List<Object> values = new ArrayList<>();
      skus.forEach(
          (sku, fates) ->
              fates.forEach(
                  (fate, totals) ->
                      values.addAll(List.of(sku, fate.name(), totals.orders(), totals.units()))));
      if (!values.isEmpty()) {
        jdbc.update(
            "INSERT INTO order_total (sku_id, fate, orders, units) VALUES "
                + Sql.repeated(ROW, values.size() / 4)
                + " ON DUPLICATE KEY UPDATE orders = orders + VALUES(orders),"
                + " units = units + VALUES(units)",
            values.toArray());
      }
    }
  }

  /**
   * @return by SKU and fate; a fate without orders is absent
   */
  public static Map<Long, Map<OrderFate, OrderTotals>> read(
      JdbcClient jdbc, Collection<Long> skus) {
    Map<Long, Map<OrderFate, OrderTotals>> found = new HashMap<>();
    jdbc.sql("SELECT sku_id, fate, orders, units FROM order_total WHERE sku_id IN (:skus)")
        .param("skus", skus)
        .query(
            row -> {
              found
                  .computeIfAbsent(row.getLong(1), sku -> new EnumMap<>(OrderFate.class))
                  .put(
                      OrderFate.valueOf(row.getString(2)),
                      new OrderTotals(row.getLong(3), row.getLong(4)));
            });
    return found;
  }

  /**
   * Locks the totals of paid orders without waiting, until the transaction ends.
   *
   * @return the SKUs whose total another transaction has locked
   */
  public static Set<Long> lockPaid(JdbcClient jdbc, Collection<Long> skus) {
    if (skus.isEmpty()) {
      return Set.of();
    }
    Set<Long> busy = new HashSet<>(paid(jdbc, skus, ""));
    paid(jdbc, skus, " FOR UPDATE SKIP LOCKED").forEach(busy::remove);
    return busy;
  }

  private static List<Long> paid(JdbcClient jdbc, Collection<Long> skus, String lock) {
    return jdbc.sql(
            "SELECT sku_id FROM order_total FORCE INDEX (PRIMARY)"
                + " WHERE sku_id IN (:skus) AND fate = 'PAID'"
                + lock)
        .param("skus", skus)
        .query(Long.class)
        .list();
  }

  /** All orders on which MySQL has decided, aliases included. */
  public static OrderTotals decided(JdbcClient jdbc, long sku) {
    return decided(jdbc, List.of(sku)).getOrDefault(sku, OrderTotals.NONE);
  }

  /** The same of several SKUs; one without orders is absent. */
  public static Map<Long, OrderTotals> decided(JdbcClient jdbc, Collection<Long> skus) {
    Map<Long, OrderTotals> decided = new HashMap<>();
    read(jdbc, skus).forEach((sku, fates) -> decided.put(sku, decided(fates)));
    return decided;
  }

  private static OrderTotals decided(Map<OrderFate, OrderTotals> fates) {
    return fates
        .getOrDefault(OrderFate.CONFIRMED, OrderTotals.NONE)
        .plus(fates.getOrDefault(OrderFate.REJECTED, OrderTotals.NONE))
        .plus(fates.getOrDefault(OrderFate.ALIASES, OrderTotals.NONE));
  }
}
