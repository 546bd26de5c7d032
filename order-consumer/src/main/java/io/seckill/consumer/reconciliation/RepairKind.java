package io.seckill.consumer.reconciliation;

/** Kinds of differences, each repaired or only reported. */
enum RepairKind {
  /** Admitted, and neither in Redis's lists, nor in the broker, nor in MySQL: sent again. */
  ORDER_SENT_AGAIN,
  /**
   * Redis has the final status of an admitted order (PAID, CANCELLED, EXPIRED, REJECTED), and MySQL
   * does not know the order: sent again, it would become CONFIRMED. Or Redis has the order's record
   * without its request, and so no idempotency key to send it with. Only reported.
   */
  ORDER_NOT_IN_MYSQL,
  /** Redis did not receive the result of an order. */
  RESULT_WRITTEN,
  /** Redis has no record, or no request, of an order that MySQL has. */
  RECORD_RESTORED,
  /** Units of an order that ended were never returned to Redis. */
  COMPENSATION_REPLAYED,
  /** A user's quota in Redis is not the sum of MySQL's quota and the orders in flight. */
  QUOTA_SET,
  /** The stock in Redis is not MySQL's stock less the orders in flight. */
  STOCK_SET,
  /**
   * Orders lost on the way to the broker were never counted as published, or orders of an older
   * epoch never counted as admitted.
   */
  COUNTER_SET,
  /** The sale is open in Redis, and not in MySQL; or it runs under an epoch that MySQL has lost. */
  STATE_SET,
  /**
   * The sale is not open in Redis, and has another state in MySQL. Only reported: an operator's
   * pause or close may have reached Redis alone.
   */
  STATE_DIFFERS,
  /** Redis had lost the sale; all of it was rewritten under a new epoch. */
  SALE_REBUILT;

  boolean isOnlyReported() {
    return this == ORDER_NOT_IN_MYSQL || this == STATE_DIFFERS;
  }
}
