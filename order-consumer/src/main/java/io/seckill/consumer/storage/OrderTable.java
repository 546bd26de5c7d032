package io.seckill.consumer.storage;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/** The statements on {@code orders} and {@code order_alias}. */
final class OrderTable {

  private static final String INSERT =
      "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
          + " status, reason, single_buyer, epoch, seq, admitted_at) VALUES ";
  private static final String ROW = "(?,?,?,?,?,?,?,?,?,?,?,?)";
  private static final String COLUMNS =
      "order_id, user_id, sku_id, quantity, request_id, status, reason, epoch, seq, admitted_at,"
          + " updated_at";

  private OrderTable() {}

  /** A row to insert: CONFIRMED without a reason, else REJECTED. */
  record NewOrder(OrderMessage order, SaleRules rules, @Nullable RejectReason reason) {

    private boolean holdsTheOnePlace() {
      return reason == null && rules.policy() == PurchasePolicy.ONE_PER_USER;
    }
  }

  record Row(
      OrderId orderId,
      RequestKey request,
      int quantity,
      OrderStatus status,
      @Nullable RejectReason reason,
      long epoch,
      long seq,
      long admittedAt,
      long updatedAt) {

    boolean hasContentOf(OrderMessage order) {
      return request.equals(RequestKey.of(order))
          && quantity == order.quantity()
          && epoch == order.epoch()
          && seq == order.seq()
          && admittedAt == order.admittedAt();
    }
  }

  /** Identifies a purchase request; at most one order of it is stored. */
  record RequestKey(long userId, long skuId, String requestId) {

    static RequestKey of(OrderMessage order) {
      return new RequestKey(order.userId(), order.skuId(), order.requestId());
    }

    static RequestKey of(StrongPurchase purchase) {
      return new RequestKey(purchase.userId(), purchase.skuId(), purchase.requestId());
    }
  }

  /** The order that is stored for a purchase request. */
  record Request(OrderId orderId, int quantity, OrderStatus status) {}

  /** A user's purchase of a ONE_PER_USER SKU. */
  record Buyer(long skuId, long userId) {

    static Buyer of(OrderMessage order) {
      return new Buyer(order.skuId(), order.userId());
    }
  }

  /** As {@link #insert}, each as CONFIRMED. */
  static void insertNew(
      JdbcOperations jdbc, List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    insert(jdbc, orders.stream().map(o -> new NewOrder(o, SaleRules.of(rules, o), null)).toList());
  }

  /**
   * Inserts all rows, sorted by the caller.
   *
   * @throws DataAccessException of a duplicate key when one of them exists already: none is
   *     inserted
   */
  static void insert(JdbcOperations jdbc, List<NewOrder> rows) {
    if (rows.isEmpty()) {
      return;
    }
    jdbc.update(
        INSERT + Sql.repeated(ROW, rows.size()),
        insert -> {
          int at = 1;
          for (NewOrder row : rows) {
            at = set(insert, at, row);
          }
        });
  }

  private static int set(PreparedStatement insert, int from, NewOrder row) throws SQLException {
    OrderMessage order = row.order();
    OrderStatus status = row.reason() == null ? OrderStatus.CONFIRMED : OrderStatus.REJECTED;
    int at = from;
    insert.setLong(at++, order.orderId().value());
    insert.setLong(at++, order.userId());
    insert.setLong(at++, order.skuId());
    insert.setInt(at++, order.quantity());
    insert.setLong(at++, row.rules().priceCents());
    insert.setString(at++, order.requestId());
    insert.setString(at++, status.name());
    insert.setString(at++, row.reason() == null ? null : row.reason().name());
    if (row.holdsTheOnePlace()) {
      insert.setLong(at++, order.userId());
    } else {
      insert.setNull(at++, Types.BIGINT);
    }
    insert.setLong(at++, order.epoch());
    insert.setLong(at++, order.seq());
    insert.setString(at++, UtcColumn.text(order.admittedAt()));
    return at;
  }

  /** Changes rows that this transaction has inserted to REJECTED. */
  static void reject(JdbcOperations jdbc, Collection<OrderMessage> orders, RejectReason reason) {
    if (orders.isEmpty()) {
      return;
    }
    String sql =
        "UPDATE orders SET status = 'REJECTED', reason = ?, single_buyer = NULL"
            + " WHERE order_id IN ("
            + Sql.marks(orders.size())
            + ")";
    List<Object> parameters = new ArrayList<>(List.of(reason.name()));
    parameters.addAll(ids(orders));
    jdbc.update(sql, parameters.toArray());
  }

  /** The rows of these orders, by order id; an order that is not stored is missing. */
  static Map<OrderId, Row> find(JdbcOperations jdbc, Collection<OrderMessage> orders) {
    return find(jdbc, "orders", orders);
  }

  /** As {@link #find}, of orders that an archive has moved. */
  static Map<OrderId, Row> findArchived(JdbcOperations jdbc, Collection<OrderMessage> orders) {
    return find(jdbc, "order_history", orders);
  }

  private static Map<OrderId, Row> find(
      JdbcOperations jdbc, String table, Collection<OrderMessage> orders) {
    String sql =
        "SELECT %s FROM %s WHERE order_id IN (%s)"
            .formatted(COLUMNS, table, Sql.marks(orders.size()));
    return jdbc.query(sql, (row, number) -> read(row), ids(orders).toArray()).stream()
        .collect(Collectors.toMap(Row::orderId, Function.identity()));
  }

  /** The stored ones of these requests. */
  static Map<RequestKey, Request> findRequests(JdbcOperations jdbc, Collection<RequestKey> keys) {
    return findRequests(jdbc, "orders", keys);
  }

  /** As {@link #findRequests}, of orders that an archive has moved. */
  static Map<RequestKey, Request> findArchivedRequests(
      JdbcOperations jdbc, Collection<RequestKey> keys) {
    return findRequests(jdbc, "order_history", keys);
  }

  private static Map<RequestKey, Request> findRequests(
      JdbcOperations jdbc, String table, Collection<RequestKey> keys) {
    String sql =
        "SELECT order_id, user_id, sku_id, request_id, quantity, status FROM "
            + table
            + " WHERE (user_id, sku_id, request_id) IN ("
            + Sql.repeated("(?,?,?)", keys.size())
            + ")";
    return jdbc.query(
        sql,
        Sql.map(
            row -> new RequestKey(row.getLong(2), row.getLong(3), row.getString(4)),
            row ->
                new Request(
                    new OrderId(row.getLong(1)),
                    row.getInt(5),
                    OrderStatus.valueOf(row.getString(6)))),
        keys.stream()
            .flatMap(key -> Stream.of(key.userId(), key.skuId(), key.requestId()))
            .toArray());
  }

  /** Users of these orders who already have their one order of a ONE_PER_USER SKU. */
  static Set<Buyer> findBuyers(JdbcOperations jdbc, Collection<OrderMessage> orders) {
    if (orders.isEmpty()) {
      return Set.of();
    }
    String sql =
        "SELECT sku_id, single_buyer FROM orders WHERE (sku_id, single_buyer) IN ("
            + Sql.repeated("(?,?)", orders.size())
            + ")";
    return Set.copyOf(
        jdbc.query(
            sql,
            (row, number) -> new Buyer(row.getLong(1), row.getLong(2)),
            orders.stream().flatMap(order -> Stream.of(order.skuId(), order.userId())).toArray()));
  }

  /** The aliases among these orders, each with the order stored for its request. */
  static Map<OrderId, OrderId> findAliases(JdbcOperations jdbc, Collection<OrderMessage> orders) {
    return findAliases(jdbc, "order_alias", orders);
  }

  /** As {@link #findAliases}, of aliases that an archive has moved. */
  static Map<OrderId, OrderId> findArchivedAliases(
      JdbcOperations jdbc, Collection<OrderMessage> orders) {
    return findAliases(jdbc, "order_alias_history", orders);
  }

  private static Map<OrderId, OrderId> findAliases(
      JdbcOperations jdbc, String table, Collection<OrderMessage> orders) {
    String sql =
        "SELECT order_id, stored_order_id FROM "
            + table
            + " WHERE order_id IN ("
            + Sql.marks(orders.size())
            + ")";
    return jdbc.query(
        sql,
        Sql.map(row -> new OrderId(row.getLong(1)), row -> new OrderId(row.getLong(2))),
        ids(orders).toArray());
  }

  static void insertAliases(JdbcOperations jdbc, Map<OrderId, OrderId> storedByAlias) {
    if (storedByAlias.isEmpty()) {
      return;
    }
    jdbc.update(
        "INSERT INTO order_alias (order_id, stored_order_id) VALUES "
            + Sql.repeated("(?,?)", storedByAlias.size()),
        storedByAlias.entrySet().stream()
            .flatMap(alias -> Stream.of(alias.getKey().value(), alias.getValue().value()))
            .toArray());
  }

  private static Row read(ResultSet row) throws SQLException {
    String reason = row.getString(7);
    return new Row(
        new OrderId(row.getLong(1)),
        new RequestKey(row.getLong(2), row.getLong(3), row.getString(5)),
        row.getInt(4),
        OrderStatus.valueOf(row.getString(6)),
        reason == null ? null : RejectReason.valueOf(reason),
        row.getLong(8),
        row.getLong(9),
        UtcColumn.instant(row, "admitted_at").toEpochMilli(),
        UtcColumn.instant(row, "updated_at").toEpochMilli());
  }

  private static List<Long> ids(Collection<OrderMessage> orders) {
    return orders.stream().map(order -> order.orderId().value()).toList();
  }
}
