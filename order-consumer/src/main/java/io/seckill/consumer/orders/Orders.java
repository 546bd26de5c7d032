package io.seckill.consumer.orders;

import static java.util.stream.Collectors.toSet;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.sql.ResultSet;
import java.sql.SQLException;
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
public class Orders {

  private final JdbcClient jdbc;

  Orders(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

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

  /**
   * Locks orders, in the order of their ids: nothing else ends or pays for them until the caller's
   * transaction is over.
   *
   * @param wait false to leave out orders that another transaction has locked
   */
  public Map<OrderId, OrderRow> lock(Collection<OrderId> orders, boolean wait) {
    String sql =
        "SELECT * FROM orders FORCE INDEX (PRIMARY) WHERE order_id IN (:ids) FOR UPDATE"
            + (wait ? "" : " SKIP LOCKED");
    return read(sql, orders);
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
   * Changes those of these orders that are CONFIRMED to PAID, in the caller's transaction, which
   * has locked them.
   */
  public void markPaid(Collection<OrderId> orders) {
    if (!orders.isEmpty()) {
      jdbc.sql(
              "UPDATE orders SET status = 'PAID'"
                  + " WHERE order_id IN (:ids) AND status = 'CONFIRMED'")
          .param("ids", ids(orders))
          .update();
    }
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
