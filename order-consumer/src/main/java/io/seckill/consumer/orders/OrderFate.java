package io.seckill.consumer.orders;

/** The fate of an order, as {@code order_total} counts it. */
public enum OrderFate {
  /** Stored with its units, in any later status. */
  CONFIRMED,
  /** Once CONFIRMED, and PAID now. */
  PAID,
  /** Once CONFIRMED, and CANCELLED now. */
  CANCELLED,
  /** Once CONFIRMED, and EXPIRED now. */
  EXPIRED,
  REJECTED,
  /** The second order of a request for which MySQL had stored another. */
  ALIASES
}
