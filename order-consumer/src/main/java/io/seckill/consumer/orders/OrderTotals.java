package io.seckill.consumer.orders;

/** A number of orders, and the sum of their units. */
public record OrderTotals(long orders, long units) {

  public static final OrderTotals NONE = new OrderTotals(0, 0);

  public OrderTotals plus(OrderTotals other) {
    return new OrderTotals(orders + other.orders, units + other.units);
  }

  public OrderTotals minus(OrderTotals other) {
    return new OrderTotals(orders - other.orders, units - other.units);
  }
}
