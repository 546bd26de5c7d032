package io.seckill.consumer.audit;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.loading.SaleOrders.Payment;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts a sale page by page, and names the contradictions. All that it is given must be of one
 * snapshot of MySQL. For one thread.
 */
final class SaleCount {

  private static final Logger log = LoggerFactory.getLogger(SaleCount.class);

  /** Named in a difference, whose text is short; all are counted, and logged. */
  private static final int MOST_NAMED = 5;

  /** In one line of the log. */
  private static final int LOGGED_AT_ONCE = 500;

  private final Map<OrderStatus, OrderTotals> byStatus = new EnumMap<>(OrderStatus.class);
  private OrderTotals aliases = OrderTotals.NONE;
  private final List<OrderId> paidWithoutCharge = new ArrayList<>();
  private final List<OrderId> chargedWithoutOrder = new ArrayList<>();
  private long paidWithoutChargeCount;
  private long chargedWithoutOrderCount;
  private long chargedCents;
  private long refundedCents;
  private long refundsDue;
  private long quotaUnits;

  /** Payments are of these orders; one without is absent. Logs every contradiction. */
  void add(Map<OrderId, AdmissionRecord> orders, Map<OrderId, Payment> payments) {
    List<OrderId> wrong = new ArrayList<>();
    orders.forEach(
        (id, order) -> {
          OrderTotals one = new OrderTotals(1, order.quantity());
          if (order.storedOrderId() != null) {
            aliases = aliases.plus(one);
          } else {
            byStatus.merge(order.status(), one, OrderTotals::plus);
            add(id, order.status() == OrderStatus.PAID, payments.get(id), wrong);
          }
        });
    Sql.chunks(wrong, LOGGED_AT_ONCE)
        .forEach(some -> log.error("audit: status and charge of these orders disagree: {}", some));
  }

  private void add(OrderId id, boolean paid, @Nullable Payment payment, List<OrderId> wrong) {
    String state = payment == null ? "" : payment.state();
    boolean charged = state.equals("CHARGED");
    if (paid != charged) {
      wrong.add(id);
    }
    if (paid && !charged) {
      paidWithoutChargeCount++;
      name(paidWithoutCharge, id);
    } else if (charged && !paid) {
      chargedWithoutOrderCount++;
      name(chargedWithoutOrder, id);
    }
    if (payment != null) {
      chargedCents += charged ? payment.amountCents() - payment.refundedCents() : 0;
      refundedCents += state.equals("REFUNDED") ? payment.amountCents() : payment.refundedCents();
      refundsDue += state.equals("REFUND_DUE") ? 1 : 0;
    }
  }

  private static void name(List<OrderId> named, OrderId id) {
    if (named.size() < MOST_NAMED) {
      named.add(id);
    }
  }

  void addQuotas(Map<Long, Long> quotas) {
    quotaUnits += quotas.values().stream().mapToLong(Long::longValue).sum();
  }

  OrderTotals of(OrderStatus status) {
    return byStatus.getOrDefault(status, OrderTotals.NONE);
  }

  long chargedCents() {
    return chargedCents;
  }

  long refundedCents() {
    return refundedCents;
  }

  long refundsDue() {
    return refundsDue;
  }

  /**
   * @param inShards units ever put on sale in shards of it
   * @param totals as the writers have kept them
   * @return one line each
   */
  List<String> differences(
      ProductSnapshot sale, long inShards, Map<OrderFate, OrderTotals> totals) {
    List<String> found = new ArrayList<>();
    for (OrderFate fate : OrderFate.values()) {
      OrderTotals kept = totals.getOrDefault(fate, OrderTotals.NONE);
      OrderTotals counted = counted(fate, kept);
      if (!kept.equals(counted)) {
        found.add(
            "order_total says %d orders, %d units %s; its rows are %d, %d"
                .formatted(kept.orders(), kept.units(), fate, counted.orders(), counted.units()));
      }
    }
    long sold = of(OrderStatus.CONFIRMED).plus(of(OrderStatus.PAID)).units();
    long left = sale.initialStock() - inShards - sold;
    if (sale.stock() != left) {
      found.add(
          "stock is %d; %d units less %d sold are %d"
              .formatted(sale.stock(), sale.initialStock() - inShards, sold, left));
    }
    if (keepsQuotas(sale) && quotaUnits != sold) {
      found.add("quotas are %d units; %d are sold".formatted(quotaUnits, sold));
    }
    if (paidWithoutChargeCount > 0) {
      found.add(named("PAID orders without a charge", paidWithoutChargeCount, paidWithoutCharge));
    }
    if (chargedWithoutOrderCount > 0) {
      found.add(
          named("charges kept for orders not PAID", chargedWithoutOrderCount, chargedWithoutOrder));
    }
    return found;
  }

  /** Whether MySQL has the quotas of the sale; an archive removes them. */
  static boolean keepsQuotas(ProductSnapshot sale) {
    return sale.policy().keepsQuota() && !sale.archived();
  }

  /**
   * Units of an alias are those of its request, which no row has: only their number is compared.
   */
  private OrderTotals counted(OrderFate fate, OrderTotals kept) {
    return switch (fate) {
      case CONFIRMED ->
          of(OrderStatus.CONFIRMED)
              .plus(of(OrderStatus.PAID))
              .plus(of(OrderStatus.CANCELLED))
              .plus(of(OrderStatus.EXPIRED));
      case PAID -> of(OrderStatus.PAID);
      case CANCELLED -> of(OrderStatus.CANCELLED);
      case EXPIRED -> of(OrderStatus.EXPIRED);
      case REJECTED -> of(OrderStatus.REJECTED);
      case ALIASES -> new OrderTotals(aliases.orders(), kept.units());
    };
  }

  private static String named(String what, long number, List<OrderId> some) {
    return number + " " + what + ": " + some.stream().map(Objects::toString).toList();
  }
}
