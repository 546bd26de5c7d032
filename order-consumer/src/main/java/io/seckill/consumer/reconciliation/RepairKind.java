package io.seckill.consumer.reconciliation;

/** What can be wrong, and is set right, or only reported. */
enum RepairKind {
  /** Admitted, and neither in Redis's lists, nor in the broker, nor in MySQL: sent again. */
  ORDER_SENT_AGAIN,
  /**
   * Redis says how an admitted order ended (PAID, CANCELLED, EXPIRED, REJECTED), and MySQL does not
   * know the order. Sent again, it would come back as CONFIRMED. Only reported.
   */
  ORDER_NOT_IN_MYSQL,
  /** Redis did not hear what became of an order. */
  RESULT_WRITTEN,
  /** Redis has no record, or no request, of an order that MySQL has. */
  RECORD_RESTORED,
  /** Units of an order that ended never went back to Redis. */
  COMPENSATION_REPLAYED,
  /** A user's quota in Redis is not what MySQL and the orders on their way add up to. */
  QUOTA_SET,
  /** The stock in Redis is not what MySQL and the orders on their way leave. */
  STOCK_SET,
  /**
   * Orders lost on the way to the broker were never counted as published, or orders of an older
   * epoch not as admitted.
   */
  COUNTER_SET,
  /** Redis sells, and MySQL says the sale is not open. */
  STATE_SET,
  /**
   * Redis does not sell, in another state than MySQL's. Only reported: an operator's pause or close
   * may have reached Redis alone.
   */
  STATE_DIFFERS,
  /** Redis had lost the sale; all of it was written anew under a new epoch. */
  SALE_REBUILT;

  boolean isOnlyReported() {
    return this == ORDER_NOT_IN_MYSQL || this == STATE_DIFFERS;
  }
}
