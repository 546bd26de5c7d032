package io.seckill.consumer.orders;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Ends CONFIRMED orders without a payment and returns their units: in MySQL in the transaction that
 * ends them, in Redis by compensation after it. Redis gets nothing of orders of strong sales, nor
 * of a sale that MySQL decides in a fallback: at its end Redis gets all that MySQL has. While the
 * sale is loaded, the compensations show the changes.
 *
 * <p>Locks are taken in the order of the batch store: orders, quota by (user, SKU), products by
 * SKU, totals by SKU last. Payments are locked right after orders, as in a payment. The number of
 * statements executed while a product is locked does not grow with the number of orders. One
 * statement selects rows by their status and locks them, so of payment, cancel and expiry exactly
 * one finds the order CONFIRMED.
 */
@Component
public class Cancellations {

  /** By primary key, so that all locks are taken in one order and no statement scans all orders. */
  private static final String CHOOSE =
      "SELECT order_id, user_id, sku_id, quantity, request_id FROM orders FORCE INDEX (PRIMARY)"
          + " WHERE order_id IN (:ids) AND status = 'CONFIRMED'";

  /**
   * If a fallback began with all stock reserved, returned units are reserved too: their buyer may
   * have a promised order that is not in MySQL yet. A reserve of known size does not grow.
   */
  private static final String RETURN_STOCK =
      "UPDATE products SET reserved_units = reserved_units"
          + " + IF(reserves_all AND reserved_units > 0, ?, 0), stock = stock + ?"
          + " WHERE sku_id = ?";

  private final JdbcClient jdbc;
  private final JdbcOperations operations;
  private final TransactionOperations transactions;
  private final BegunPayments payments;
  private final Compensations compensations;
  private final OrderResults results;
  private final MeterRegistry meters;

  Cancellations(
      JdbcClient jdbc,
      JdbcOperations operations,
      TransactionOperations transactions,
      BegunPayments payments,
      Compensations compensations,
      OrderResults results,
      MeterRegistry meters) {
    this.jdbc = jdbc;
    this.operations = operations;
    this.transactions = transactions;
    this.payments = payments;
    this.compensations = compensations;
    this.results = results;
    this.meters = meters;
    List.of(OrderStatus.CANCELLED, OrderStatus.EXPIRED).forEach(end -> counter(meters, end));
  }

  /** Counts orders that went on from CONFIRMED to this status; an alert needs it from the start. */
  public static Counter counter(MeterRegistry meters, OrderStatus status) {
    return Counter.builder("seckill.consumer.orders.ended")
        .description("Orders that went on from CONFIRMED")
        .tag("status", status.name())
        .register(meters);
  }

  /** An order that has ended and whose units are to be returned. */
  private record EndedOrder(
      OrderId orderId, long userId, long skuId, int quantity, String requestId) {}

  /** The orders that a transaction has ended, and compensations of those that Redis has. */
  private record Ended(List<EndedOrder> orders, List<Compensation> compensations) {

    static final Ended NONE = new Ended(List.of(), List.of());
  }

  /**
   * The columns of a product that decide about its units, read while its row is locked.
   *
   * @param epoch later preheats count these units, earlier ones did not
   * @param inRedis whether Redis sells it, or is being loaded from rows that may lack these units
   */
  private record SaleOfOrders(long epoch, boolean inRedis) {}

  /** Cancels an order of this user. Returns false when it was not CONFIRMED, or not the user's. */
  public boolean cancel(OrderId orderId, long userId) {
    String sql = CHOOSE + " AND user_id = :value FOR UPDATE";
    return end(OrderStatus.CANCELLED, List.of(orderId), sql, userId) == 1;
  }

  /**
   * Expires those of these orders that are not locked, are CONFIRMED and were stored at least this
   * long ago, by MySQL's clock; all of them or, when this throws, none.
   *
   * @return number of orders expired
   * @throws IllegalStateException when one of them has no quota or product to return its units to
   */
  public int expire(Collection<OrderId> orders, Duration timeout) {
    return end(
        OrderStatus.EXPIRED,
        orders,
        CHOOSE
            + " AND created_at <= NOW(6) - INTERVAL :value MICROSECOND"
            + " FOR UPDATE SKIP LOCKED", // another process expires them, or they are being paid
        timeout.toMillis() * 1_000);
  }

  private int end(OrderStatus status, Collection<OrderId> orders, String sql, long value) {
    if (orders.isEmpty()) {
      return 0;
    }
    Ended done =
        transactions.execute(
            tx -> {
              List<EndedOrder> chosen = choose(orders, sql, value);
              return chosen.isEmpty() ? Ended.NONE : release(chosen, status);
            });
    // Write the result before the compensation: while a compensation is pending, the sweep of
    // compensations writes its result again.
    boolean notified =
        results.write(
            done.compensations().stream()
                .map(back -> OrderResult.of(back.orderId(), back.skuId(), back.userId(), status))
                .toList());
    if (notified) {
      compensations.deliver(done.compensations());
    }
    counter(meters, status).increment(done.orders().size());
    String stage = status.name().toLowerCase(Locale.ROOT);
    done.orders().forEach(order -> OrderTrail.mark(order.orderId(), order.skuId(), null, stage));
    return done.orders().size();
  }

  /** Locks the orders; returns them sorted by user and SKU, the order of the quota locks. */
  private List<EndedOrder> choose(Collection<OrderId> orders, String sql, long value) {
    return jdbc
        .sql(sql)
        .param("ids", Orders.ids(orders))
        .param("value", value)
        .query(
            (row, number) ->
                new EndedOrder(
                    new OrderId(row.getLong("order_id")),
                    row.getLong("user_id"),
                    row.getLong("sku_id"),
                    row.getInt("quantity"),
                    row.getString("request_id")))
        .list()
        .stream()
        .sorted(Comparator.comparingLong(EndedOrder::userId).thenComparingLong(EndedOrder::skuId))
        .toList();
  }

  private Ended release(List<EndedOrder> ended, OrderStatus status) {
    List<OrderId> ids = ended.stream().map(EndedOrder::orderId).toList();
    jdbc.sql("UPDATE orders SET status = :status, single_buyer = NULL WHERE order_id IN (:ids)")
        .param("status", status.name())
        .param("ids", Orders.ids(ids))
        .update();
    payments.ended(ids);
    Set<Long> withQuota = withQuota(ended);
    lowerQuotas(ended.stream().filter(order -> withQuota.contains(order.skuId())).toList());
    Map<Long, SaleOfOrders> sales = returnStock(ended);
    List<Compensation> recorded =
        ended.stream()
            .filter(order -> saleOf(order, sales).inRedis())
            .map(
                order ->
                    new Compensation(
                        order.orderId(),
                        order.skuId(),
                        order.userId(),
                        saleOf(order, sales).epoch(),
                        order.quantity(),
                        withQuota.contains(order.skuId()) ? order.quantity() : 0,
                        order.requestId()))
            .toList();
    compensations.record(recorded);
    count(ended, OrderFate.valueOf(status.name()));
    return new Ended(ended, recorded);
  }

  private void count(List<EndedOrder> ended, OrderFate fate) {
    OrderTotalTable.Addition totals = new OrderTotalTable.Addition();
    ended.forEach(order -> totals.add(order.skuId(), fate, order.quantity()));
    totals.write(operations);
  }

  /** The SKUs that keep a quota; read without a lock, because a sale's policy never changes. */
  private Set<Long> withQuota(List<EndedOrder> ended) {
    Set<Long> withQuota = new HashSet<>();
    jdbc.sql("SELECT sku_id, policy FROM products WHERE sku_id IN (:skus)")
        .param("skus", ended.stream().map(EndedOrder::skuId).collect(Collectors.toSet()))
        .query(
            row -> {
              if (PurchasePolicy.valueOf(row.getString(2)).keepsQuota()) {
                withQuota.add(row.getLong(1));
              }
            });
    return withQuota;
  }

  private static SaleOfOrders saleOf(EndedOrder order, Map<Long, SaleOfOrders> sales) {
    return Objects.requireNonNull(sales.get(order.skuId()), () -> "no product " + order.skuId());
  }

  /** One statement for all; it locks the quotas in the order of these orders. */
  private void lowerQuotas(List<EndedOrder> ended) {
    Map<Owner, Integer> units = new LinkedHashMap<>();
    ended.forEach(
        order ->
            units.merge(new Owner(order.userId(), order.skuId()), order.quantity(), Integer::sum));
    if (units.isEmpty()) {
      return;
    }
    String row = "SELECT ? AS user_id, ? AS sku_id, ? AS units";
    List<Object> values = new ArrayList<>();
    units.forEach((owner, each) -> values.addAll(List.of(owner.userId(), owner.skuId(), each)));
    int lowered =
        jdbc.sql(
                "UPDATE ("
                    + String.join(" UNION ALL ", Collections.nCopies(units.size(), row))
                    + ") ended STRAIGHT_JOIN user_quota q"
                    + " ON q.user_id = ended.user_id AND q.sku_id = ended.sku_id"
                    + " SET q.owned_count = q.owned_count - ended.units")
            .params(values)
            .update();
    if (lowered != units.size()) {
      throw new IllegalStateException("an order has no quota to lower");
    }
  }

  private record Owner(long userId, long skuId) {}

  /** Returns each sale, read while its row is locked: a fallback may begin or end at any time. */
  private Map<Long, SaleOfOrders> returnStock(List<EndedOrder> ended) {
    Map<Long, Long> units = new TreeMap<>();
    ended.forEach(order -> units.merge(order.skuId(), (long) order.quantity(), Long::sum));
    Map<Long, SaleOfOrders> sales = new HashMap<>();
    units.forEach((sku, returned) -> sales.put(sku, returnStock(sku, returned)));
    return sales;
  }

  private SaleOfOrders returnStock(long sku, long units) {
    jdbc.sql(RETURN_STOCK).params(units, units, sku).update();
    return jdbc.sql("SELECT epoch, sale_phase FROM products WHERE sku_id = ? FOR UPDATE")
        .param(sku)
        .query(
            (row, number) ->
                new SaleOfOrders(
                    row.getLong(1), SalePhase.valueOf(row.getString(2)).isWrittenToRedis()))
        .optional()
        .orElseThrow(() -> new IllegalStateException("there is no product " + sku));
  }
}
