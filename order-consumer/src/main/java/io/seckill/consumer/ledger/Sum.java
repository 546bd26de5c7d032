package io.seckill.consumer.ledger;

/** Some orders, and the units of them all. */
public record Sum(long orders, long units) {

  /** No orders. */
  public static final Sum NONE = new Sum(0, 0);

  Sum plus(Sum other) {
    return new Sum(orders + other.orders, units + other.units);
  }

  Sum minus(Sum other) {
    return new Sum(orders - other.orders, units - other.units);
  }
}
