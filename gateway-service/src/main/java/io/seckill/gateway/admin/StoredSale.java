package io.seckill.gateway.admin;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.common.sale.SaleLoader;
import io.seckill.common.sale.StoredOrderCount;
import io.seckill.support.web.ProductRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reads one sale from MySQL. To be called within one REPEATABLE READ transaction, so that all
 * results are from the same moment. Lists are streamed, not collected. Every method blocks.
 */
@Component
class StoredSale {

  /** Makes Connector/J return rows as they arrive instead of buffering all of them. */
  private static final int STREAM = Integer.MIN_VALUE;

  private static final String ORDER_COLUMNS =
      """
      o.user_id, o.request_id, o.quantity, o.seq, o.admitted_at, o.epoch, o.status, o.reason,
      o.updated_at
      """;

  private final JdbcClient mysql;

  StoredSale(JdbcClient mysql) {
    this.mysql = mysql;
  }

  /** Returns the current stock and epoch; the other columns are those of {@code product}. */
  ProductRow now(ProductRow product) {
    return mysql
        .sql("SELECT stock, initial_stock, epoch FROM products WHERE sku_id = ?")
        .param(product.skuId())
        .query(
            (row, n) ->
                new ProductRow(
                    product.skuId(),
                    product.name(),
                    product.priceCents(),
                    row.getLong(1),
                    row.getLong(2),
                    product.policy(),
                    product.limitPerUser(),
                    product.opensAt(),
                    product.closesAt(),
                    product.state(),
                    product.stateVersion(),
                    row.getLong(3),
                    product.lastSeq(),
                    product.settled()))
        .single();
  }

  StoredOrderCount count(long sku) {
    return mysql
        .sql(
            """
            SELECT COUNT(*), COALESCE(SUM(n), 0) FROM (
              SELECT quantity AS n FROM orders WHERE sku_id = :sku
              UNION ALL
              SELECT o.quantity FROM orders o JOIN order_alias a ON a.stored_order_id = o.order_id
              WHERE o.sku_id = :sku) admitted
            """)
        .param("sku", sku)
        .query((row, n) -> new StoredOrderCount(row.getLong(1), row.getLong(2)))
        .single();
  }

  void loadQuotas(long sku, SaleLoader loader) {
    mysql
        .sql("SELECT user_id, owned_count FROM user_quota WHERE sku_id = ? AND owned_count > 0")
        .withFetchSize(STREAM)
        .param(sku)
        .query(
            row -> {
              loader.quota(row.getLong(1), row.getLong(2));
            });
  }

  void loadOrders(long sku, SaleLoader loader) {
    mysql
        .sql("SELECT o.order_id, " + ORDER_COLUMNS + " FROM orders o WHERE o.sku_id = ?")
        .withFetchSize(STREAM)
        .param(sku)
        .query(
            row -> {
              loader.order(new OrderId(row.getLong("order_id")), record(row, null));
            });
  }

  void loadAliases(long sku, SaleLoader loader) {
    mysql
        .sql(
            "SELECT a.order_id, a.stored_order_id, "
                + ORDER_COLUMNS
                + """
                 FROM orders o JOIN order_alias a ON a.stored_order_id = o.order_id
                WHERE o.sku_id = ?
                """)
        .withFetchSize(STREAM)
        .param(sku)
        .query(
            row -> {
              OrderId stored = new OrderId(row.getLong("stored_order_id"));
              loader.alias(new OrderId(row.getLong("order_id")), record(row, stored));
            });
  }

  /**
   * Units compensated after the epoch was raised are already part of the stock that is being
   * loaded.
   */
  void loadCompensated(long sku, long epoch, SaleLoader loader) {
    mysql
        .sql(
            """
            SELECT order_id, user_id, stock_units, quota_units FROM compensation
            WHERE sku_id = ? AND epoch = ?
            """)
        .withFetchSize(STREAM)
        .params(sku, epoch)
        .query(
            row -> {
              loader.compensated(
                  new OrderId(row.getLong(1)), row.getLong(2), row.getLong(3), row.getLong(4));
            });
  }

  /**
   * Stock additions of this epoch that are in MySQL's stock and may still be on their way to Redis,
   * by change id, with the outcome that order-consumer's stock_change.lua stores for a change it
   * has applied.
   */
  Map<String, String> containedChanges(long sku, long epoch) {
    Map<String, String> contained = new HashMap<>();
    mysql
        .sql(
            """
            SELECT change_id, delta FROM stock_change
            WHERE sku_id = ? AND epoch = ? AND delta > 0 AND state IN ('MYSQL_DONE', 'DONE')
            """)
        .params(sku, epoch)
        .query(
            row -> {
              contained.put(row.getString(1), epoch + ":" + row.getLong(2) + ":A");
            });
    return contained;
  }

  private static AdmissionRecord record(ResultSet row, @Nullable OrderId stored)
      throws SQLException {
    String reason = row.getString("reason");
    return new AdmissionRecord(
        row.getLong("user_id"),
        row.getString("request_id"),
        row.getInt("quantity"),
        row.getLong("seq"),
        millis(row, "admitted_at"),
        row.getLong("epoch"),
        stored != null ? OrderStatus.REJECTED : OrderStatus.valueOf(row.getString("status")),
        stored != null || reason == null ? null : RejectReason.valueOf(reason),
        millis(row, "updated_at"),
        stored);
  }

  /** DATETIME columns hold UTC. */
  private static long millis(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC).toEpochMilli();
  }
}
