package io.seckill.consumer.orders;

import static java.util.stream.Collectors.toSet;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads and updates stored orders by their ids. */
@Component
public record Orders(JdbcClient jdbc) {

  public Optional<OrderRow> find(OrderId orderId) {
    return Optional.ofNullable(find(List.of(orderId)).get(orderId));
  }

  /**
   * @throws ProblemException 404, the same for an order that does not exist and for another user's
   */
  public OrderRow ofUser(OrderId orderId, long userId) {
    return find(orderId).filter(order -> order.userId() == userId).orElseThrow(Orders::unknown);
  }

  /** These orders, also those of archived sales; one that is not stored is missing. */
  public Map<OrderId, OrderRow> find(Collection<OrderId> orders) {
    Map<OrderId, OrderRow> found =
        new HashMap<>(read("SELECT * FROM orders WHERE order_id IN (:ids)", orders));
    List<OrderId> missing = orders.stream().filter(id -> !found.containsKey(id)).toList();
    found.putAll(read("SELECT * FROM order_history WHERE order_id IN (:ids)", missing));
    return found;
  }

  /** Orders that a transaction has locked, and when, by MySQL's clock. */
  public record Locked(Map<OrderId, OrderRow> rows, Instant at) {}

  /**
   * Locks orders, in the order of their ids: nothing else ends or pays for them until the caller's
   * transaction is over.
   *
   * @param wait false to leave out orders that another transaction has locked
   */
  public Locked lock(Collection<OrderId> orders, boolean wait) {
    String sql =
        "SELECT *, NOW(6) AS locked_at FROM orders FORCE INDEX (PRIMARY) WHERE order_id IN (:ids)"
            + " FOR UPDATE"
            + (wait ? "" : " SKIP LOCKED");
    Map<OrderRow, Instant> rows =
        jdbc.sql(sql)
            .param("ids", ids(orders))
            .query(Sql.map(Orders::order, row -> UtcColumn.instant(row, "locked_at")));
    return new Locked(
        rows.keySet().stream().collect(Collectors.toMap(OrderRow::orderId, Function.identity())),
        rows.values().stream().findAny().orElse(Instant.EPOCH));
  }

  private Map<OrderId, OrderRow> read(String sql, Collection<OrderId> orders) {
    return orders.isEmpty()
        ? Map.of()
        : jdbc.sql(sql).param("ids", ids(orders)).query((row, number) -> order(row)).list().stream()
            .collect(Collectors.toMap(OrderRow::orderId, Function.identity()));
  }

  private static OrderRow order(ResultSet row) throws SQLException {
    String reason = row.getString("reason");
    return new OrderRow(
        new OrderId(row.getLong("order_id")),
        row.getLong("user_id"),
        row.getLong("sku_id"),
        row.getInt("quantity"),
        row.getLong("unit_price_cents"),
        row.getString("request_id"),
        OrderStatus.valueOf(row.getString("status")),
        reason == null ? null : RejectReason.valueOf(reason),
        UtcColumn.instant(row, "admitted_at"),
        UtcColumn.instant(row, "created_at"),
        UtcColumn.instant(row, "updated_at"));
  }

  /**
   * Changes orders from CONFIRMED to PAID, in the caller's transaction, which has locked them.
   *
   * @return the locked orders afterwards
   * @throws IllegalStateException when one was not CONFIRMED: everything must be rolled back
   */
  public Map<OrderId, OrderRow> markPaid(Collection<OrderId> orders, Locked locked) {
    Map<OrderId, OrderRow> now = new HashMap<>(locked.rows());
    if (!orders.isEmpty()) {
      int changed =
          jdbc.sql(
                  "UPDATE orders SET status = 'PAID', updated_at = :at"
                      + " WHERE order_id IN (:ids) AND status = 'CONFIRMED'")
              .param("at", UtcColumn.text(locked.at()))
              .param("ids", ids(orders))
              .update();
      if (changed != orders.size()) {
        throw new IllegalStateException(changed + " orders are CONFIRMED of " + orders);
      }
      orders.forEach(id -> now.computeIfPresent(id, (same, order) -> paid(order, locked.at())));
    }
    return now;
  }

  private static OrderRow paid(OrderRow order, Instant at) {
    return new OrderRow(
        order.orderId(),
        order.userId(),
        order.skuId(),
        order.quantity(),
        order.unitPriceCents(),
        order.requestId(),
        OrderStatus.PAID,
        order.reason(),
        order.admittedAt(),
        order.createdAt(),
        at);
  }

  /** Those of these results whose sale Redis decides now. */
  public List<OrderResult> inRedis(Collection<OrderResult> results) {
    if (results.isEmpty()) {
      return List.of();
    }
    Set<Long> skus =
        Set.copyOf(
            jdbc.sql(
                    "SELECT sku_id FROM products WHERE "
                        + SalePhase.REDIS_DECIDES
                        + " AND sku_id IN (:skus)")
                .param("skus", results.stream().map(OrderResult::skuId).collect(toSet()))
                .query(Long.class)
                .list());
    return results.stream().filter(result -> skus.contains(result.skuId())).toList();
  }

  /** The ids for a statement, sorted: transactions that lock rows in one order do not deadlock. */
  public static List<Long> ids(Collection<OrderId> orders) {
    return orders.stream().map(OrderId::value).sorted().toList();
  }

  public static ProblemException unknown() {
    return ProblemException.of(ProblemCode.UNKNOWN_ORDER);
  }
}
