package io.seckill.consumer.consistency;

/** A number of orders, and the sum of their units. */
record OrderTotals(long orders, long units) {

  static final OrderTotals NONE = new OrderTotals(0, 0);

  OrderTotals plus(OrderTotals other) {
    return new OrderTotals(orders + other.orders, units + other.units);
  }

  OrderTotals minus(OrderTotals other) {
    return new OrderTotals(orders - other.orders, units - other.units);
  }
}
