package io.seckill.testing;

/** Statements about {@code order_total} for tests that write rows of {@code orders} themselves. */
public final class OrderTotalSql {

  private OrderTotalSql() {}

  /** Counts the stored orders of a SKU, as the transactions of order-consumer would have. */
  public static String count(long sku) {
    return """
    REPLACE INTO order_total (sku_id, fate, orders, units)
    SELECT sku_id, status, COUNT(*), SUM(quantity) FROM orders
    WHERE sku_id = %1$d AND status <> 'CONFIRMED' GROUP BY sku_id, status
    UNION ALL
    SELECT sku_id, 'CONFIRMED', COUNT(*), SUM(quantity) FROM orders
    WHERE sku_id = %1$d AND status <> 'REJECTED' GROUP BY sku_id
    """
        .formatted(sku);
  }

  /**
   * Finds totals that are not those of the rows.
   *
   * @param which condition on {@code sku_id}
   */
  public static String wrong(String which) {
    return """
    SELECT sku_id, fate, SUM(orders) AS orders, SUM(units) AS units FROM (
      SELECT sku_id, fate, orders, units FROM order_total WHERE fate <> 'ALIASES' AND %1$s
      UNION ALL
      SELECT sku_id, status, -1, -quantity FROM orders WHERE status <> 'CONFIRMED' AND %1$s
      UNION ALL
      SELECT sku_id, 'CONFIRMED', -1, -quantity FROM orders WHERE status <> 'REJECTED' AND %1$s
    ) both_sides GROUP BY sku_id, fate HAVING SUM(orders) <> 0 OR SUM(units) <> 0
    """
        .formatted(which);
  }
}
