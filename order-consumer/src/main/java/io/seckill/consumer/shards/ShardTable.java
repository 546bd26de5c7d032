package io.seckill.consumer.shards;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads the SKUs with shards in MySQL. */
@Component
class ShardTable {

  private static final String ON_SALE =
      ProductRows.SELECT
          + " FORCE INDEX (ix_products_closing) WHERE p."
          + SalePhase.IN_SHARDS
          + " AND p.state = 'OPEN' AND p.closes_at > UTC_TIMESTAMP(3)";

  /** One statement reads one snapshot. */
  private static final String POOL =
      """
      SELECT p.stock AS units, p.state_version AS version,
        COALESCE(SUM(ABS(c.delta)), 0) AS moving, COUNT(c.delta) AS moves,
        (SELECT COALESCE(SUM(-w.delta), 0) FROM stock_change w FORCE INDEX (ix_stock_change_state)
          WHERE w.state = 'PENDING' AND w.delta < 0 AND w.sku_id = p.sku_id) AS withdrawn,
        (SELECT COUNT(*) FROM products s
          WHERE s.sku_id IN (:shards) AND s.sale_phase = 'REDIS') AS in_redis
      FROM products p
      LEFT JOIN stock_change c FORCE INDEX (ix_stock_change_state)
        ON c.state IN ('PENDING', 'MYSQL_DONE', 'UNDOING') AND c.sku_id IN (:shards)
      WHERE p.sku_id = :sku
      GROUP BY p.sku_id
      """;

  private static final String IN_MYSQL =
      "SELECT sku_id FROM products WHERE sku_id IN (:shards) AND sale_phase IN ('MYSQL', 'LOADING')"
          + " AND "
          + SalePhase.SELLABLE_UNITS
          + " < :units";

  private final JdbcClient jdbc;

  ShardTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  List<ProductSnapshot> onSale() {
    return jdbc.sql(ON_SALE).query((row, number) -> ProductRows.read(row)).list();
  }

  Pool pool(ProductSnapshot sku) {
    return jdbc.sql(POOL)
        .param("sku", sku.skuId())
        .param("shards", sku.shardIds())
        .query(Pool.class)
        .single();
  }

  /** Shards that MySQL sells in a fallback, and that have fewer units for sale than these. */
  Set<Long> inMySql(ProductSnapshot sku, long units) {
    return jdbc.sql(IN_MYSQL)
        .param("shards", sku.shardIds())
        .param("units", units)
        .query(Long.class)
        .set();
  }

  /** In ascending order. */
  List<ExpectedSale> expected(ProductSnapshot sku) {
    return ExpectedSale.find(jdbc, sku.shardIds());
  }
}
