package io.seckill.consumer.loading;

import static java.util.stream.Collectors.toMap;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.consumer.loading.DatabasePart.PendingUnits;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A consistent snapshot of MySQL, taken by the first query. A later read of Redis contains at least
 * as much: each order was in Redis before it reached MySQL. For one thread.
 */
public final class DatabaseSnapshot {

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
      "SELECT COUNT(DISTINCT d.order_id)" + UNSETTLED_DEAD_LETTERS.formatted("?");

  /** A batch waits some seconds for locks at most, then it is stored by another transaction. */
  private static final int LONGEST_STORE_S = 10;

  /** Rows of a page. */
  static final int PAGE = 5_000;

  /** In place of a page's last key, when there is no other page. */
  static final long END = Long.MAX_VALUE;

  static final int CHUNK = 1_000;

  private static final String STORED_SINCE =
      "SELECT order_id, sku_id, CAST(created_at AS CHAR), created_at >= :later FROM orders"
          + " FORCE INDEX (ix_orders_status) WHERE status = :status AND created_at >= :time"
          + " AND (created_at > :time OR order_id > :after)"
          + " ORDER BY created_at, order_id LIMIT :page";

  private static final String COMPENSATIONS =
      "SELECT order_id, user_id, stock_units, quota_units, created_at FROM compensation";

  private final JdbcClient jdbc;

  /** {@code jdbc} queries in one transaction, at REPEATABLE READ. */
  DatabaseSnapshot(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /** Empty when there is no such product. */
  public Optional<ProductSnapshot> sale(long skuId) {
    return ProductRows.find(jdbc, skuId);
  }

  /** MySQL's clock, Unix ms; the connection's times are UTC. */
  public long now() {
    return UtcColumn.now(jdbc).toEpochMilli();
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

  /** The orders of a sale by their fate, as the writers have counted them. */
  public Map<OrderFate, OrderTotals> totals(long sku) {
    return OrderTotalTable.read(jdbc, List.of(sku)).getOrDefault(sku, Map.of());
  }

  /** The orders that are in the running tables. */
  public SaleOrders stored() {
    return SaleOrders.stored(jdbc);
  }

  /** The orders that an archive has moved to the history. */
  public SaleOrders history() {
    return SaleOrders.history(jdbc);
  }

  /** Whether the history of an archived sale is deleted, or some of it: a step after the end. */
  public boolean isPurged(long sku) {
    return jdbc.sql(
            "SELECT COUNT(*) FROM archive WHERE sku_id = ?"
                + " AND (phase = 'PURGED' OR stepped_at > done_at)")
        .param(sku)
        .query(Boolean.class)
        .single();
  }

  /** MySQL's clock some seconds ago: a later commit has a later time. In MySQL's format. */
  String beforeNow() {
    return jdbc.sql("SELECT CAST(NOW(6) - INTERVAL " + LONGEST_STORE_S + " SECOND AS CHAR)")
        .query(String.class)
        .single();
  }

  /**
   * Hands over the ids of a sale's orders that were stored since then, as {@link #beforeNow} says,
   * at most some thousand at a time, each with whether it was stored since a later time, too. Also
   * reads the orders of other sales, which their index does not keep apart.
   */
  void storedSince(long sku, String time, String later, Consumer<Map<OrderId, Boolean>> each) {
    for (OrderStatus status : OrderStatus.values()) { // the index begins with it
      StoredOrder last = new StoredOrder(-1, sku, time, false);
      List<StoredOrder> page;
      do {
        page =
            jdbc.sql(STORED_SINCE)
                .params(Map.of("status", status.name(), "time", last.time(), "after", last.id()))
                .params(Map.of("later", later, "page", PAGE))
                .query(
                    (row, number) ->
                        new StoredOrder(
                            row.getLong(1), row.getLong(2), row.getString(3), row.getBoolean(4)))
                .list();
        each.accept(
            page.stream()
                .filter(order -> order.sku() == sku)
                .collect(toMap(order -> new OrderId(order.id()), StoredOrder::isLater)));
        last = page.isEmpty() ? last : page.get(page.size() - 1);
      } while (page.size() == PAGE);
    }
  }

  private record StoredOrder(long id, long sku, String time, boolean isLater) {}

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

  /**
   * Reads page after page: {@code readAfter} reads the rows after this key, and returns their last
   * key or {@link #END}.
   */
  static void pages(LongUnaryOperator readAfter) {
    long after = -1;
    while (after != END) {
      after = readAfter.applyAsLong(after);
    }
  }

  /**
   * The rows of some orders and users of a sale. The ids may be those of orders, of aliases, or of
   * neither.
   */
  public DatabasePart part(
      ProductSnapshot sale, Collection<OrderId> orders, Collection<Long> users) {
    Map<OrderId, AdmissionRecord> found = new HashMap<>();
    Map<OrderId, AdmissionRecord> aliases = new HashMap<>();
    Map<OrderId, PendingUnits> compensations = new HashMap<>();
    for (List<OrderId> ids : Sql.chunks(orders, CHUNK)) {
      found.putAll(stored().among(sale.skuId(), ids));
      aliases.putAll(stored().aliases("a.order_id", ids));
      read(
          COMPENSATIONS + " WHERE order_id IN (:ids) AND epoch = :epoch",
          Map.of("ids", Orders.ids(ids), "epoch", sale.epoch()),
          row -> compensations.put(new OrderId(row.getLong(1)), pending(row)));
    }
    return new DatabasePart(found, aliases, quotas(jdbc, sale.skuId(), users), compensations);
  }

  /** Units of these users above 0, in the transaction of {@code jdbc}, or as committed now. */
  public static Map<Long, Long> quotas(JdbcClient jdbc, long sku, Collection<Long> users) {
    Map<Long, Long> quotas = new HashMap<>();
    for (List<Long> ids : Sql.chunks(users, CHUNK)) {
      quotas.putAll(
          jdbc.sql(
                  "SELECT user_id, owned_count FROM user_quota WHERE sku_id = :sku"
                      + " AND user_id IN (:ids) AND owned_count > 0")
              .params(Map.of("sku", sku, "ids", ids))
              .query(Sql.map(row -> row.getLong(1), row -> row.getLong(2))));
    }
    return quotas;
  }

  private static PendingUnits pending(ResultSet row) throws SQLException {
    return new PendingUnits(
        row.getLong(2),
        row.getLong(3),
        row.getLong(4),
        UtcColumn.instant(row, "created_at").toEpochMilli());
  }

  /** Stock changes of this epoch, by id. */
  public Map<String, StoredChange> changes(ProductSnapshot sale) {
    return StoredChange.of(jdbc, sale);
  }

  /**
   * The orders of dead letters that are not stored, and that an operator has replayed or may
   * replay. One that was pushed twice may have two; only the first can be stored.
   */
  List<OrderMessage> unsettledDeadLetters(long sku) {
    Map<OrderId, OrderMessage> orders = new LinkedHashMap<>();
    read(
        "SELECT d.payload" + UNSETTLED_DEAD_LETTERS.formatted(":sku"),
        Map.of("sku", sku),
        row -> {
          try {
            OrderMessage order = OrderMessageCodec.decode(row.getBytes(1));
            orders.putIfAbsent(order.orderId(), order);
          } catch (UnreadableMessageException e) {
            throw new IllegalStateException("a dead letter with a SKU can be read", e);
          }
        });
    return List.copyOf(orders.values());
  }

  private void read(String sql, Map<String, Object> params, RowCallbackHandler each) {
    jdbc.sql(sql).params(params).query(each);
  }
}
