package io.seckill.consumer.ledger;

/** A number of orders, and the sum of their units. */
public record OrderTotals(long orders, long units) {

  /** No orders. */
  public static final OrderTotals NONE = new OrderTotals(0, 0);

  OrderTotals plus(OrderTotals other) {
    return new OrderTotals(orders + other.orders, units + other.units);
  }

  OrderTotals minus(OrderTotals other) {
    return new OrderTotals(orders - other.orders, units - other.units);
  }
}
