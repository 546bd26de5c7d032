package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.common.order.UnreadableMessageException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Orders in MySQL, read only. Every method blocks. */
@Component
class StoredOrders {

  private static final String COLUMNS =
      """
      o.order_id, o.user_id, o.sku_id, o.quantity, o.status, o.reason, o.admitted_at, o.created_at,
      o.updated_at
      """;

  private final JdbcClient mysql;

  StoredOrders(JdbcClient mysql) {
    this.mysql = mysql;
  }

  /**
   * Returns the orders with these ids, by requested id: the stored order, the stored order of an
   * alias, either also of an archived sale, or the order waiting among the dead letters. Ids that
   * MySQL does not have are absent.
   *
   * @param ids 1..64
   */
  Map<OrderId, StoredOrder> find(Collection<OrderId> ids) {
    Map<OrderId, StoredOrder> found = new HashMap<>();
    Set<Long> missing = ids.stream().map(OrderId::value).collect(Collectors.toSet());
    stored(missing).forEach(order -> found.put(order.id(), order));
    found.keySet().forEach(id -> missing.remove(id.value()));
    if (!missing.isEmpty()) {
      found.putAll(aliasesAndArchived(missing));
      found.keySet().forEach(id -> missing.remove(id.value()));
    }
    if (!missing.isEmpty()) {
      delayed(missing).forEach(order -> found.put(order.id(), order));
    }
    return found;
  }

  /**
   * A user's orders, also those of archived sales, newest first. Without the named index MySQL
   * reads all that a user with many orders ever bought.
   *
   * @param before only ids below this one
   * @param limit maximum number of orders, at least 1
   */
  List<StoredOrder> ofUser(long userId, long before, int limit) {
    return mysql
        .sql(
            """
            SELECT * FROM (
              (SELECT %s FROM orders o FORCE INDEX (ix_orders_user)
                WHERE o.user_id = :user AND o.order_id < :before
                ORDER BY o.order_id DESC LIMIT :limit)
              UNION ALL
              (SELECT %s FROM order_history o FORCE INDEX (ix_order_history_user)
                WHERE o.user_id = :user AND o.order_id < :before
                ORDER BY o.order_id DESC LIMIT :limit)
            ) newest ORDER BY order_id DESC LIMIT :limit
            """
                .formatted(COLUMNS, COLUMNS))
        .params(Map.of("user", userId, "before", before, "limit", limit))
        .query((row, n) -> order(row))
        .list();
  }

  private List<StoredOrder> stored(Set<Long> ids) {
    return mysql
        .sql("SELECT " + COLUMNS + " FROM orders o WHERE o.order_id IN (:ids)")
        .param("ids", ids)
        .query((row, n) -> order(row))
        .list();
  }

  /** Read after {@link #stored}: an order that is moved in between is found here. */
  private Map<OrderId, StoredOrder> aliasesAndArchived(Set<Long> ids) {
    Map<OrderId, StoredOrder> found = new HashMap<>();
    mysql
        .sql(
            """
            SELECT a.order_id AS asked_id, %s
              FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id
              WHERE a.order_id IN (:ids)
            UNION ALL
            SELECT o.order_id, %s FROM order_history o WHERE o.order_id IN (:ids)
            UNION ALL
            SELECT a.order_id, %s
              FROM order_alias_history a JOIN order_history o ON o.order_id = a.stored_order_id
              WHERE a.order_id IN (:ids)
            """
                .formatted(COLUMNS, COLUMNS, COLUMNS))
        .param("ids", ids)
        .query(
            row -> {
              found.put(new OrderId(row.getLong("asked_id")), order(row));
            });
    return found;
  }

  /**
   * Those that wait for a replay, and those replayed that are not stored yet. Reads the payload
   * too: it has values that the table's columns lack.
   */
  private List<StoredOrder> delayed(Set<Long> ids) {
    return mysql
        .sql(
            """
            SELECT payload, first_failed_at, last_failed_at FROM dead_letter
            WHERE order_id IN (:ids) AND state IN ('OPEN', 'REPLAYED')
            """)
        .param("ids", ids)
        .query((row, n) -> delayed(row))
        .list()
        .stream()
        .flatMap(Optional::stream)
        .toList();
  }

  /** Empty for an unreadable payload: it does not name the order's owner. */
  private static Optional<StoredOrder> delayed(ResultSet row) throws SQLException {
    OrderMessage message;
    try {
      message = OrderMessageCodec.decode(row.getBytes("payload"));
    } catch (UnreadableMessageException e) {
      return Optional.empty();
    }
    return Optional.of(
        new StoredOrder(
            message.orderId(),
            message.userId(),
            message.skuId(),
            message.quantity(),
            OrderStatus.DELAYED,
            null,
            Instant.ofEpochMilli(message.admittedAt()),
            instant(row, "first_failed_at"),
            instant(row, "last_failed_at")));
  }

  private static StoredOrder order(ResultSet row) throws SQLException {
    String reason = row.getString("reason");
    return new StoredOrder(
        new OrderId(row.getLong("order_id")),
        row.getLong("user_id"),
        row.getLong("sku_id"),
        row.getInt("quantity"),
        OrderStatus.valueOf(row.getString("status")),
        reason == null ? null : RejectReason.valueOf(reason),
        instant(row, "admitted_at"),
        instant(row, "created_at"),
        instant(row, "updated_at"));
  }

  /** DATETIME columns hold UTC; truncated to milliseconds, the precision that Redis keeps. */
  private static Instant instant(ResultSet row, String column) throws SQLException {
    Instant exact = row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
    return exact.truncatedTo(ChronoUnit.MILLIS);
  }
}
