package io.seckill.consumer.catalogue;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleFallback;
import io.seckill.consumer.catalogue.DatabasePart.PendingUnits;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A consistent snapshot of MySQL, taken by the first query. Whatever is read from Redis after that
 * query contains at least as much: each order was in Redis before it reached MySQL. For one thread.
 */
public final class DatabaseSnapshot {

  private static final String ORDER_COLUMNS =
      """
      o.user_id, o.request_id, o.quantity, o.seq, o.admitted_at, o.epoch, o.status, o.reason,
      o.updated_at
      """;

  /** Rows as {@link #sale(ResultSet)} reads them. */
  public static final String SALES =
      "SELECT p.*, p.closes_at <= UTC_TIMESTAMP(3) AS ended FROM products p";

  /**
   * Dead letters whose order is not stored and may still be: a replayed one is in flight again. The
   * placeholder is for the SKU.
   */
  private static final String UNSETTLED_DEAD_LETTERS =
      """
       FROM dead_letter d WHERE d.sku_id = %s AND d.state IN ('OPEN', 'REPLAYED')
      AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.order_id = d.order_id)
      AND NOT EXISTS (SELECT 1 FROM order_alias a WHERE a.order_id = d.order_id)
      """;

  /** How many orders a SKU has among the dead letters that may still be stored; one parameter. */
  public static final String COUNT_UNSETTLED_DEAD_LETTERS =
      "SELECT COUNT(*)" + UNSETTLED_DEAD_LETTERS.formatted("?");

  private static final String OF_BUCKETS = " AND MOD(%s, :buckets) BETWEEN :from AND :to";

  private final JdbcClient jdbc;

  /**
   * @param jdbc queries in one transaction, at REPEATABLE READ
   */
  DatabaseSnapshot(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /** Empty when there is no such product. */
  public Optional<ProductSnapshot> sale(long skuId) {
    return sale(jdbc, skuId);
  }

  public static Optional<ProductSnapshot> sale(JdbcClient jdbc, long skuId) {
    return sale(jdbc, skuId, "");
  }

  /** Locks the row until the caller's transaction ends. */
  static Optional<ProductSnapshot> lockSale(JdbcClient jdbc, long skuId) {
    return sale(jdbc, skuId, " FOR UPDATE");
  }

  private static Optional<ProductSnapshot> sale(JdbcClient jdbc, long skuId, String lock) {
    return jdbc.sql(SALES + " WHERE p.sku_id = ?" + lock)
        .param(skuId)
        .query((row, n) -> sale(row))
        .optional();
  }

  public static ProductSnapshot sale(ResultSet row) throws SQLException {
    return new ProductSnapshot(
        row.getLong("sku_id"),
        row.getString("state"),
        row.getLong("state_version"),
        PurchasePolicy.valueOf(row.getString("policy")),
        row.getInt("limit_per_user"),
        Decider.valueOf(row.getString("decides")),
        SaleFallback.valueOf(row.getString("fallback")),
        time(row, "opens_at"),
        time(row, "closes_at"),
        row.getLong("epoch"),
        row.getLong("stock"),
        row.getLong("initial_stock"),
        row.getLong("last_seq"),
        row.getLong("settled"),
        row.getBoolean("ended"),
        row.getInt("max_per_order"),
        Duration.ofSeconds(row.getInt("retention_s")));
  }

  /** MySQL's clock, Unix ms; the connection's times are UTC. */
  public long now() {
    return jdbc.sql("SELECT NOW(6) AS now_at")
        .query((row, n) -> time(row, "now_at").toEpochMilli())
        .single();
  }

  /**
   * Number of a SKU's orders in MySQL, and their units, whatever their status.
   *
   * @param orders rows, aliases included
   * @param units sum of their quantities
   */
  record OrderCount(long orders, long units) {}

  /** Counts the stored orders, and those among the dead letters, which may still be stored. */
  OrderCount count(long sku, List<OrderMessage> deadLetters) {
    long deadUnits = deadLetters.stream().mapToLong(OrderMessage::quantity).sum();
    return jdbc.sql(
            """
            SELECT COUNT(*), COALESCE(SUM(n), 0) FROM (
              SELECT quantity AS n FROM orders WHERE sku_id = :sku
              UNION ALL
              SELECT o.quantity FROM orders o JOIN order_alias a ON a.stored_order_id = o.order_id
              WHERE o.sku_id = :sku) admitted
            """)
        .param("sku", sku)
        .query(
            (row, n) ->
                new OrderCount(row.getLong(1) + deadLetters.size(), row.getLong(2) + deadUnits))
        .single();
  }

  /**
   * @param from first bucket
   * @param to last bucket, included
   */
  public DatabasePart part(ProductSnapshot sale, int buckets, int from, int to) {
    Map<String, Object> range =
        Map.of("sku", sale.skuId(), "buckets", buckets, "from", from, "to", to);
    Map<OrderId, AdmissionRecord> orders = new HashMap<>();
    read(
        "SELECT o.order_id, " + ORDER_COLUMNS + " FROM orders o WHERE o.sku_id = :sku" + of("o"),
        range,
        row -> orders.put(new OrderId(row.getLong("order_id")), record(row, null)));
    Map<OrderId, AdmissionRecord> aliases = new HashMap<>();
    read(
        "SELECT a.order_id, a.stored_order_id, "
            + ORDER_COLUMNS
            + " FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id"
            + " WHERE o.sku_id = :sku"
            + of("o"),
        range,
        row ->
            aliases.put(
                new OrderId(row.getLong("order_id")),
                record(row, new OrderId(row.getLong("stored_order_id")))));
    Map<Long, Long> quotas = new HashMap<>();
    read(
        "SELECT user_id, owned_count FROM user_quota q WHERE sku_id = :sku AND owned_count > 0"
            + of("q"),
        range,
        row -> quotas.put(row.getLong(1), row.getLong(2)));
    return new DatabasePart(orders, aliases, quotas, compensations(sale, range));
  }

  private Map<OrderId, PendingUnits> compensations(
      ProductSnapshot sale, Map<String, Object> range) {
    Map<String, Object> params = new HashMap<>(range);
    params.put("epoch", sale.epoch());
    Map<OrderId, PendingUnits> compensations = new HashMap<>();
    read(
        "SELECT order_id, user_id, stock_units, quota_units, created_at FROM compensation g"
            + " WHERE sku_id = :sku AND epoch = :epoch"
            + of("g"),
        params,
        row ->
            compensations.put(
                new OrderId(row.getLong(1)),
                new PendingUnits(
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    time(row, "created_at").toEpochMilli())));
    return compensations;
  }

  /** Stock changes of this epoch, by id. */
  public Map<String, StoredChange> changes(ProductSnapshot sale) {
    Map<String, StoredChange> changes = new HashMap<>();
    read(
        """
        SELECT change_id, delta, state = 'DONE' OR state = 'MYSQL_DONE' AS counted,
        state IN ('DONE', 'REFUSED') AS ended
        FROM stock_change WHERE sku_id = :sku AND epoch = :epoch
        """,
        Map.of("sku", sale.skuId(), "epoch", sale.epoch()),
        row ->
            changes.put(
                row.getString(1),
                new StoredChange(row.getLong(2), row.getBoolean(3), row.getBoolean(4))));
    return changes;
  }

  /**
   * A row of {@code stock_change}.
   *
   * @param delta units, negative for a withdrawal
   * @param counted whether MySQL's stock contains it
   * @param ended whether both stores contain it, or neither
   */
  public record StoredChange(long delta, boolean counted, boolean ended) {}

  /** Dead letters that are not stored, and that an operator has replayed or may replay. */
  List<OrderMessage> unsettledDeadLetters(long sku) {
    List<OrderMessage> orders = new ArrayList<>();
    read(
        "SELECT d.payload" + UNSETTLED_DEAD_LETTERS.formatted(":sku"),
        Map.of("sku", sku),
        row -> {
          try {
            orders.add(OrderMessageCodec.decode(row.getBytes(1)));
          } catch (UnreadableMessageException e) {
            throw new IllegalStateException("a dead letter with a SKU can be read", e);
          }
        });
    return orders;
  }

  private void read(String sql, Map<String, Object> params, RowCallbackHandler each) {
    jdbc.sql(sql).params(params).query(each);
  }

  private static String of(String table) {
    return OF_BUCKETS.formatted(table + ".user_id");
  }

  private static AdmissionRecord record(ResultSet row, @Nullable OrderId stored)
      throws SQLException {
    String reason = row.getString("reason");
    return new AdmissionRecord(
        row.getLong("user_id"),
        stored == null ? row.getString("request_id") : null,
        row.getInt("quantity"),
        row.getLong("seq"),
        time(row, "admitted_at").toEpochMilli(),
        row.getLong("epoch"),
        stored != null ? OrderStatus.REJECTED : OrderStatus.valueOf(row.getString("status")),
        stored != null || reason == null ? null : RejectReason.valueOf(reason),
        time(row, "updated_at").toEpochMilli(),
        stored);
  }

  /** DATETIME columns hold UTC. */
  private static Instant time(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }
}
