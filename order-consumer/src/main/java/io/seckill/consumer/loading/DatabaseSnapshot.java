package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.loading.DatabasePart.PendingUnits;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A consistent snapshot of MySQL, taken by the first query. A later read of Redis contains at least
 * as much: each order was in Redis before it reached MySQL. For one thread.
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

  private static final int PAGE = 5_000;

  /** A batch waits some seconds for locks at most, then it is stored by another transaction. */
  private static final int LONGEST_STORE_S = 10;

  /** Ids in one statement. */
  private static final int CHUNK = 1_000;

  private static final String COMPENSATIONS =
      "SELECT order_id, user_id, stock_units, quota_units, created_at FROM compensation";

  private static final long BEFORE_ALL = -1;
  private static final long END = Long.MAX_VALUE;

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
  public static Optional<ProductSnapshot> lockSale(JdbcClient jdbc, long skuId) {
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
        SalePhase.valueOf(row.getString("sale_phase")),
        time(row, "opens_at"),
        time(row, "closes_at"),
        row.getLong("epoch"),
        row.getLong("stock"),
        row.getLong("initial_stock"),
        row.getLong("last_seq"),
        row.getLong("settled"),
        row.getBoolean("ended"),
        row.getBoolean("archived"),
        row.getInt("max_per_order"),
        Duration.ofSeconds(row.getInt("retention_s")));
  }

  /** MySQL's clock, Unix ms; the connection's times are UTC. */
  public long now() {
    return jdbc.sql("SELECT NOW(6) AS now_at")
        .query((row, n) -> time(row, "now_at").toEpochMilli())
        .single();
  }

  /** All orders that MySQL has decided, and those among the dead letters, which may be stored. */
  OrderTotals count(long sku, List<OrderMessage> deadLetters) {
    long deadUnits = deadLetters.stream().mapToLong(OrderMessage::quantity).sum();
    return decided(sku).plus(new OrderTotals(deadLetters.size(), deadUnits));
  }

  /** All orders that MySQL has decided, aliases included. */
  public OrderTotals decided(long sku) {
    return OrderTotalTable.decided(jdbc, sku);
  }

  /** What became of a sale's orders, as the writers have counted it. */
  public Map<OrderFate, OrderTotals> totals(long sku) {
    return OrderTotalTable.read(jdbc, List.of(sku)).getOrDefault(sku, Map.of());
  }

  /**
   * The payments of these orders.
   *
   * @param read makes a payment of its state and its amount in cents
   */
  public <T> Map<OrderId, T> payments(
      Collection<OrderId> orders, BiFunction<String, Long, T> read) {
    return payments("payment", orders, read);
  }

  /** As {@link #payments}, of orders that an archive has moved to the history. */
  public <T> Map<OrderId, T> archivedPayments(
      Collection<OrderId> orders, BiFunction<String, Long, T> read) {
    return payments("payment_history", orders, read);
  }

  private <T> Map<OrderId, T> payments(
      String table, Collection<OrderId> orders, BiFunction<String, Long, T> read) {
    Map<OrderId, T> payments = new HashMap<>();
    for (List<OrderId> ids : chunks(orders)) {
      read(
          "SELECT order_id, state, amount_cents FROM " + table + " WHERE order_id IN (:ids)",
          Map.of("ids", values(ids)),
          row ->
              payments.put(
                  new OrderId(row.getLong(1)), read.apply(row.getString(2), row.getLong(3))));
    }
    return payments;
  }

  /** Hands over a sale's orders with their aliases, some thousand at a time, in order of ids. */
  public void orders(long sku, Consumer<Map<OrderId, AdmissionRecord>> each) {
    orders(sku, Tables.STORED, each);
  }

  /** As {@link #orders}, of the orders that an archive has moved to the history. */
  public void archivedOrders(long sku, Consumer<Map<OrderId, AdmissionRecord>> each) {
    orders(sku, Tables.HISTORY, each);
  }

  /** Whether the history of an archived sale is deleted. */
  public boolean isPurged(long sku) {
    return jdbc.sql("SELECT COUNT(*) FROM archive WHERE sku_id = ? AND phase = 'PURGED'")
            .param(sku)
            .query(Long.class)
            .single()
        == 1;
  }

  /**
   * Where the orders of a sale are.
   *
   * @param orders with its index by SKU
   */
  private record Tables(String orders, String index, String aliases) {

    static final Tables STORED = new Tables("orders", "ix_orders_sku", "order_alias");
    static final Tables HISTORY =
        new Tables("order_history", "ix_order_history_sku", "order_alias_history");
  }

  private void orders(long sku, Tables tables, Consumer<Map<OrderId, AdmissionRecord>> each) {
    boolean hasAliases = totals(sku).containsKey(OrderFate.ALIASES);
    pages(
        after -> {
          TreeMap<OrderId, AdmissionRecord> page = new TreeMap<>();
          read(
              "SELECT o.order_id, "
                  + ORDER_COLUMNS
                  + " FROM %s o FORCE INDEX (%s)".formatted(tables.orders(), tables.index())
                  + " WHERE o.sku_id = :sku AND o.order_id > :after ORDER BY o.order_id LIMIT"
                  + " :page",
              Map.of("sku", sku, "after", after, "page", PAGE),
              row -> page.put(new OrderId(row.getLong("order_id")), record(row, null)));
          long last = page.size() == PAGE ? page.lastKey().value() : END;
          if (hasAliases) {
            page.putAll(aliases(tables, "a.stored_order_id", List.copyOf(page.keySet())));
          }
          each.accept(page);
          return last;
        });
  }

  /** MySQL's clock some seconds ago: what is committed later begins later. In MySQL's format. */
  String beforeNow() {
    return jdbc.sql("SELECT CAST(NOW(6) - INTERVAL " + LONGEST_STORE_S + " SECOND AS CHAR)")
        .query(String.class)
        .single();
  }

  /**
   * The ids of a sale's orders that were stored since then.
   *
   * @param time as {@link #beforeNow}
   */
  Set<OrderId> storedSince(long sku, String time) {
    Set<OrderId> ids = new HashSet<>();
    read(
        "SELECT order_id FROM orders FORCE INDEX (ix_orders_status) WHERE status IN ('CONFIRMED',"
            + " 'PAID', 'CANCELLED', 'EXPIRED', 'REJECTED') AND created_at >= :time"
            + " AND sku_id = :sku",
        Map.of("sku", sku, "time", time),
        row -> ids.add(new OrderId(row.getLong(1))));
    return ids;
  }

  /** Hands over a sale's quotas above 0, user to units, some thousand at a time. */
  public void quotas(long sku, Consumer<Map<Long, Long>> each) {
    pages(
        after -> {
          TreeMap<Long, Long> page = new TreeMap<>();
          read(
              "SELECT user_id, owned_count FROM user_quota WHERE sku_id = :sku"
                  + " AND user_id > :after ORDER BY user_id LIMIT :page",
              Map.of("sku", sku, "after", after, "page", PAGE),
              row -> page.put(row.getLong(1), row.getLong(2)));
          long last = page.size() == PAGE ? page.lastKey() : END;
          page.values().removeIf(units -> units == 0);
          each.accept(page);
          return last;
        });
  }

  /** Hands over the compensations of the sale's epoch, some thousand at a time. */
  public void compensations(ProductSnapshot sale, Consumer<Map<OrderId, PendingUnits>> each) {
    pages(
        after -> {
          TreeMap<OrderId, PendingUnits> page = new TreeMap<>();
          read(
              COMPENSATIONS
                  // Else the optimizer reads all pages before this one again.
                  + " FORCE INDEX (ix_compensation_sku)"
                  + " WHERE sku_id = :sku AND epoch = :epoch AND order_id > :after"
                  + " ORDER BY order_id LIMIT :page",
              Map.of("sku", sale.skuId(), "epoch", sale.epoch(), "after", after, "page", PAGE),
              row -> page.put(new OrderId(row.getLong(1)), pending(row)));
          each.accept(page);
          return page.size() == PAGE ? page.lastKey().value() : END;
        });
  }

  /** Reads page after page, each from where the one before it ended. */
  private static void pages(LongUnaryOperator readAfter) {
    long after = BEFORE_ALL;
    while (after != END) {
      after = readAfter.applyAsLong(after);
    }
  }

  /**
   * What MySQL has of some orders and users of a sale.
   *
   * @param orders ids that may be those of orders, of aliases, or of neither
   */
  public DatabasePart part(
      ProductSnapshot sale, Collection<OrderId> orders, Collection<Long> users) {
    Map<OrderId, AdmissionRecord> stored = new HashMap<>();
    Map<OrderId, AdmissionRecord> aliases = new HashMap<>();
    Map<OrderId, PendingUnits> compensations = new HashMap<>();
    Map<Long, Long> quotas = new HashMap<>();
    for (List<OrderId> ids : chunks(orders)) {
      Map<String, Object> of = Map.of("sku", sale.skuId(), "ids", values(ids));
      read(
          "SELECT o.order_id, "
              + ORDER_COLUMNS
              + " FROM orders o WHERE o.order_id IN (:ids) AND o.sku_id = :sku",
          of,
          row -> stored.put(new OrderId(row.getLong("order_id")), record(row, null)));
      aliases.putAll(aliases(Tables.STORED, "a.order_id", ids));
      read(
          COMPENSATIONS + " WHERE order_id IN (:ids) AND epoch = :epoch",
          Map.of("ids", values(ids), "epoch", sale.epoch()),
          row -> compensations.put(new OrderId(row.getLong(1)), pending(row)));
    }
    for (List<Long> ids : chunks(users)) {
      read(
          "SELECT user_id, owned_count FROM user_quota WHERE sku_id = :sku"
              + " AND user_id IN (:ids) AND owned_count > 0",
          Map.of("sku", sale.skuId(), "ids", ids),
          row -> quotas.put(row.getLong(1), row.getLong(2)));
    }
    return new DatabasePart(stored, aliases, quotas, compensations);
  }

  private Map<OrderId, AdmissionRecord> aliases(Tables tables, String column, List<OrderId> ids) {
    Map<OrderId, AdmissionRecord> aliases = new HashMap<>();
    if (!ids.isEmpty()) {
      read(
          "SELECT a.order_id, a.stored_order_id, "
              + ORDER_COLUMNS
              + " FROM %s a JOIN %s o ON o.order_id = a.stored_order_id WHERE "
                  .formatted(tables.aliases(), tables.orders())
              + column
              + " IN (:ids)",
          Map.of("ids", values(ids)),
          row ->
              aliases.put(
                  new OrderId(row.getLong("order_id")),
                  record(row, new OrderId(row.getLong("stored_order_id")))));
    }
    return aliases;
  }

  private static PendingUnits pending(ResultSet row) throws SQLException {
    return new PendingUnits(
        row.getLong(2), row.getLong(3), row.getLong(4), time(row, "created_at").toEpochMilli());
  }

  private static <T> List<List<T>> chunks(Collection<T> all) {
    List<T> items = List.copyOf(all);
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < items.size(); from += CHUNK) {
      chunks.add(items.subList(from, Math.min(items.size(), from + CHUNK)));
    }
    return chunks;
  }

  private static List<Long> values(Collection<OrderId> ids) {
    return ids.stream().map(OrderId::value).toList();
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
