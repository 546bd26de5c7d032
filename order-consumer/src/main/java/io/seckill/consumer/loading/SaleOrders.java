package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The orders of sales with their aliases and payments, as one snapshot of MySQL has them: those of
 * the running tables, or those that an archive has moved to the history. For one thread.
 */
public final class SaleOrders {

  private static final String ORDER_COLUMNS =
      """
      o.user_id, o.request_id, o.quantity, o.seq, o.admitted_at, o.epoch, o.status, o.reason,
      o.updated_at
      """;

  private final JdbcClient jdbc;
  private final Tables tables;

  private SaleOrders(JdbcClient jdbc, Tables tables) {
    this.jdbc = jdbc;
    this.tables = tables;
  }

  static SaleOrders stored(JdbcClient jdbc) {
    return new SaleOrders(jdbc, new Tables("orders", "ix_orders_sku", "order_alias", "payment"));
  }

  static SaleOrders history(JdbcClient jdbc) {
    return new SaleOrders(
        jdbc,
        new Tables(
            "order_history", "ix_order_history_sku", "order_alias_history", "payment_history"));
  }

  /** Where the orders are, and their index by SKU. */
  private record Tables(String orders, String index, String aliases, String payments) {}

  /** Hands over a sale's orders with their aliases, some thousand at a time, in order of ids. */
  public void pages(long sku, Consumer<Map<OrderId, AdmissionRecord>> each) {
    boolean hasAliases =
        OrderTotalTable.read(jdbc, List.of(sku))
            .getOrDefault(sku, Map.of())
            .containsKey(OrderFate.ALIASES);
    DatabaseSnapshot.pages(
        after -> {
          TreeMap<OrderId, AdmissionRecord> page = new TreeMap<>();
          jdbc.sql(
                  "SELECT o.order_id, "
                      + ORDER_COLUMNS
                      + " FROM %s o FORCE INDEX (%s)".formatted(tables.orders(), tables.index())
                      + " WHERE o.sku_id = :sku AND o.order_id > :after ORDER BY o.order_id LIMIT"
                      + " :page")
              .params(Map.of("sku", sku, "after", after, "page", DatabaseSnapshot.PAGE))
              .query(
                  row -> {
                    page.put(id(row), record(row, null));
                  });
          long last =
              page.size() == DatabaseSnapshot.PAGE ? page.lastKey().value() : DatabaseSnapshot.END;
          if (hasAliases) {
            page.putAll(aliases("a.stored_order_id", List.copyOf(page.keySet())));
          }
          each.accept(page);
          return last;
        });
  }

  /** Those of these orders, at most some thousand, that are orders of the sale. */
  Map<OrderId, AdmissionRecord> among(long sku, List<OrderId> ids) {
    return jdbc.sql(
            "SELECT o.order_id, "
                + ORDER_COLUMNS
                + " FROM "
                + tables.orders()
                + " o WHERE o.order_id IN (:ids) AND o.sku_id = :sku")
        .params(Map.of("sku", sku, "ids", Orders.ids(ids)))
        .query(Sql.map(SaleOrders::id, row -> record(row, null)));
  }

  /** The column has one of these ids. */
  Map<OrderId, AdmissionRecord> aliases(String column, List<OrderId> ids) {
    if (ids.isEmpty()) {
      return Map.of();
    }
    return jdbc.sql(
            "SELECT a.order_id, a.stored_order_id, "
                + ORDER_COLUMNS
                + " FROM %s a JOIN %s o ON o.order_id = a.stored_order_id WHERE "
                    .formatted(tables.aliases(), tables.orders())
                + column
                + " IN (:ids)")
        .param("ids", Orders.ids(ids))
        .query(
            Sql.map(
                SaleOrders::id, row -> record(row, new OrderId(row.getLong("stored_order_id")))));
  }

  /**
   * The payment of an order, as its row has it.
   *
   * @param amountCents 0 for one that was closed without a charge
   * @param refundedCents of the charge of a wallet, which operators may refund in parts while the
   *     order stays PAID
   */
  public record Payment(String state, long amountCents, long refundedCents) {}

  public Map<OrderId, Payment> payments(Collection<OrderId> orders) {
    Map<OrderId, Payment> payments = new HashMap<>();
    for (List<OrderId> ids : Sql.chunks(orders, DatabaseSnapshot.CHUNK)) {
      payments.putAll(
          jdbc.sql(
                  "SELECT p.order_id, p.state,"
                      + " IF(p.state = 'REFUNDED' AND p.charge_id IS NULL, 0, p.amount_cents),"
                      + " COALESCE(w.refunded_cents, 0) FROM "
                      + tables.payments()
                      + " p LEFT JOIN wallet_charge w ON w.charge_id = p.order_id"
                      + " AND p.charge_id LIKE 'wallet-%' WHERE p.order_id IN (:ids)")
              .param("ids", Orders.ids(ids))
              .query(
                  Sql.map(
                      SaleOrders::id,
                      row -> new Payment(row.getString(2), row.getLong(3), row.getLong(4)))));
    }
    return payments;
  }

  private static OrderId id(ResultSet row) throws SQLException {
    return new OrderId(row.getLong("order_id"));
  }

  private static AdmissionRecord record(ResultSet row, @Nullable OrderId stored)
      throws SQLException {
    String reason = row.getString("reason");
    return new AdmissionRecord(
        row.getLong("user_id"),
        stored == null ? row.getString("request_id") : null,
        row.getInt("quantity"),
        row.getLong("seq"),
        UtcColumn.instant(row, "admitted_at").toEpochMilli(),
        row.getLong("epoch"),
        stored != null ? OrderStatus.REJECTED : OrderStatus.valueOf(row.getString("status")),
        stored != null || reason == null ? null : RejectReason.valueOf(reason),
        UtcColumn.instant(row, "updated_at").toEpochMilli(),
        stored);
  }
}
