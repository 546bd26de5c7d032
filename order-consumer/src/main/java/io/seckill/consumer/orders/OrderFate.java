package io.seckill.consumer.orders;

/** The fate of an order, as {@code order_total} counts it. */
public enum OrderFate {
  /** Stored with its units; one of the next three is counted there, too. */
  CONFIRMED,
  PAID,
  CANCELLED,
  EXPIRED,
  REJECTED,
  /** The second order of a request for which MySQL had stored another. */
  ALIASES
}
