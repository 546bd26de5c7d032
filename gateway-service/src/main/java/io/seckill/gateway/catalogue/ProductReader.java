package io.seckill.gateway.catalogue;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.support.contract.ProductRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Reads products from MySQL, all with one statement, whose cost does not grow with sales that ended
 * long ago.
 */
public final class ProductReader {

  /** The columns that {@link #product} reads. */
  public static final String COLUMNS =
      """
      sku_id, name, price_cents, stock, initial_stock, policy, limit_per_user, sale_phase, opens_at, closes_at,
      state, state_version, epoch, last_seq, settled, shards, version
      """;

  /** Products that may change without being asked for; the first condition is for the index. */
  private static final String ALIVE =
      "closes_at > UTC_TIMESTAMP() - INTERVAL 31 DAY"
          + " AND closes_at > UTC_TIMESTAMP() - INTERVAL retention_s + 3600 SECOND";

  /** A product may be in it twice: to remove one, MySQL would index all in a temporary table. */
  private static final String READ =
      """
      SELECT term, in_fallback, %s,
          (SELECT d.sku_id FROM dead_letter d
            WHERE d.sku_id = read_now.sku_id AND d.state = 'OPEN' LIMIT 1) AS dead_sku,
          closes_at > UTC_TIMESTAMP() - INTERVAL retention_s SECOND AS is_retained
        FROM (SELECT term, state <> 'REDIS' AS in_fallback FROM fallback) latest LEFT JOIN (
          SELECT %s, retention_s FROM products WHERE %s
          UNION ALL SELECT %s, retention_s FROM products WHERE sku_id IN (:wanted)
        ) read_now ON TRUE
      """
          .formatted(COLUMNS, COLUMNS, ALIVE, COLUMNS);

  private ProductReader() {}

  /** Reads {@code alsoSkus} even if their sales ended long ago. */
  static ProductReading read(JdbcClient mysql, Set<Long> alsoSkus) {
    long now = System.nanoTime();
    Map<Long, ProductRow> bySku = new HashMap<>();
    Set<Long> withDeadLetters = new HashSet<>();
    Set<Long> ofMySql = new HashSet<>();
    AtomicBoolean redisHasSales = new AtomicBoolean();
    AtomicLong term = new AtomicLong();
    AtomicBoolean inFallback = new AtomicBoolean();
    mysql
        .sql(READ)
        .param("wanted", alsoSkus.isEmpty() ? Set.of(0L) : alsoSkus)
        .query(
            row -> {
              term.set(row.getLong("term"));
              inFallback.set(row.getBoolean("in_fallback"));
              if (row.getObject("sku_id") == null) {
                return; // there is no product
              }
              ProductRow product = product(row);
              bySku.put(product.skuId(), product);
              if (row.getObject("dead_sku") != null) {
                withDeadLetters.add(product.skuId());
              }
              if (product.decides() == Decider.MYSQL) {
                ofMySql.add(product.skuId());
              }
              boolean isOfRedis = phase(row) != SalePhase.STRONG;
              if (isOfRedis && product.state() != SaleState.NEW && row.getBoolean("is_retained")) {
                redisHasSales.set(true);
              }
            });
    return new ProductReading(
        now,
        bySku,
        addShards(mysql, bySku),
        withDeadLetters,
        ofMySql,
        redisHasSales.get(),
        term.get(),
        inFallback.get());
  }

  /**
   * Adds the units of the shards to their SKUs, and reads the shards of those ended long ago.
   * Returns the number of shards of each SKU that has some.
   */
  private static Map<Long, Integer> addShards(JdbcClient mysql, Map<Long, ProductRow> bySku) {
    Map<Long, Integer> shards = new HashMap<>();
    for (ProductRow product : bySku.values()) {
      if (product.shards() > 1 && product.state() != SaleState.NEW) {
        shards.put(product.skuId(), product.shards());
      }
    }
    if (shards.isEmpty()) {
      return Map.of();
    }
    Set<Long> missing = new HashSet<>();
    shards.forEach((sku, count) -> missing.addAll(Shards.ids(sku, count)));
    missing.removeAll(bySku.keySet());
    if (!missing.isEmpty()) {
      mysql
          .sql("SELECT " + COLUMNS + " FROM products WHERE sku_id IN (:shards)")
          .param("shards", missing)
          .query((RowCallbackHandler) row -> bySku.put(row.getLong("sku_id"), product(row)));
    }
    shards.forEach(
        (sku, count) ->
            bySku.computeIfPresent(
                sku, (id, product) -> product.withUnitsOf(parts(sku, count, bySku))));
    return shards;
  }

  /** Returns the products, those that have shards with the units of these. */
  public static List<ProductRow> withUnitsOfShards(JdbcClient mysql, List<ProductRow> products) {
    Map<Long, ProductRow> bySku = new HashMap<>();
    products.forEach(product -> bySku.put(product.skuId(), product));
    addShards(mysql, bySku);
    return products.stream()
        .map(product -> Objects.requireNonNull(bySku.get(product.skuId())))
        .toList();
  }

  private static SalePhase phase(ResultSet row) throws SQLException {
    return SalePhase.valueOf(row.getString("sale_phase"));
  }

  private static List<ProductRow> parts(long sku, int shards, Map<Long, ProductRow> bySku) {
    return Shards.ids(sku, shards).stream().map(bySku::get).filter(Objects::nonNull).toList();
  }

  /** The product of a row with {@link #COLUMNS}. */
  public static ProductRow product(ResultSet row) throws SQLException {
    SalePhase phase = phase(row);
    return new ProductRow(
        row.getLong("sku_id"),
        row.getString("name"),
        row.getLong("price_cents"),
        row.getLong("stock"),
        row.getLong("initial_stock"),
        PurchasePolicy.valueOf(row.getString("policy")),
        row.getInt("limit_per_user"),
        phase.decider(),
        phase.fallback(),
        instant(row, "opens_at"),
        instant(row, "closes_at"),
        SaleState.valueOf(row.getString("state")),
        row.getLong("state_version"),
        row.getLong("epoch"),
        row.getLong("last_seq"),
        row.getLong("settled"),
        row.getInt("shards"),
        row.getLong("version"));
  }

  private static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }
}
