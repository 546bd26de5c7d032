package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Reads rows of {@code products} in a transaction of the caller, or outside of any. */
public final class ProductRows {

  /** SQL: whether Redis keeps the rules of a sale, which expire an hour before the rest. */
  public static final String KEPT =
      "closes_at > UTC_TIMESTAMP(3) - INTERVAL retention_s - 3600 SECOND";

  /** Rows as {@link #read} reads them. */
  public static final String SELECT =
      "SELECT p.*, p.closes_at <= UTC_TIMESTAMP(3) AS ended, " + KEPT + " AS kept FROM products p";

  /**
   * Most by which an order, or Redis, is ahead of MySQL: Redis cannot hold more orders of a SKU. A
   * number above that is wrong, and would leave none that {@code admit.lua} takes.
   */
  static final long MOST_AHEAD = 1_000_000_000;

  /** SQL: the highest sequence number, with that of an order or of Redis. */
  public static final String RAISED_SEQ =
      "GREATEST(last_seq, LEAST(?, last_seq + " + MOST_AHEAD + "))";

  /** SQL: the highest epoch, with that of Redis. */
  public static final String RAISED_EPOCH = "GREATEST(epoch, LEAST(?, epoch + " + MOST_AHEAD + "))";

  private ProductRows() {}

  public static Optional<ProductSnapshot> find(JdbcClient jdbc, long skuId) {
    return find(jdbc, skuId, "");
  }

  /** Locks the row until the caller's transaction ends. */
  public static Optional<ProductSnapshot> lock(JdbcClient jdbc, long skuId) {
    return find(jdbc, skuId, " FOR UPDATE");
  }

  private static Optional<ProductSnapshot> find(JdbcClient jdbc, long skuId, String lock) {
    return jdbc.sql(SELECT + " WHERE p.sku_id = ?" + lock)
        .param(skuId)
        .query((row, n) -> read(row))
        .optional();
  }

  public static ProductSnapshot read(ResultSet row) throws SQLException {
    return new ProductSnapshot(
        row.getLong("sku_id"),
        row.getString("state"),
        row.getLong("state_version"),
        PurchasePolicy.valueOf(row.getString("policy")),
        row.getInt("limit_per_user"),
        SalePhase.valueOf(row.getString("sale_phase")),
        UtcColumn.instant(row, "opens_at"),
        UtcColumn.instant(row, "closes_at"),
        row.getLong("epoch"),
        row.getLong("stock"),
        row.getLong("initial_stock"),
        row.getLong("last_seq"),
        row.getLong("change_seq"),
        row.getLong("settled"),
        row.getBoolean("ended"),
        row.getBoolean("kept"),
        row.getBoolean("archived"),
        row.getInt("max_per_order"),
        Duration.ofSeconds(row.getInt("retention_s")),
        row.getInt("shards"));
  }
}
