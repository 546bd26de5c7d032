package io.seckill.consumer.consistency;

/**
 * The counters of one SKU in Redis.
 *
 * @param epoch 0 while a preheat loads it
 * @param stock units admissible; 0 while it is being loaded
 * @param seq admissions so far, on the scale of {@link DatabaseSaleCounters#settled}
 * @param admitted all orders admitted, including the orders stored in earlier epochs
 * @param published those of the admitted orders that the broker has confirmed
 */
record RedisSaleCounters(
    long skuId,
    long stock,
    long epoch,
    String state,
    long seq,
    OrderTotals admitted,
    OrderTotals published) {

  /** Admitted and not counted as published: in the outbox or in a private queue. */
  OrderTotals awaitingRelay() {
    return admitted.minus(published);
  }
}
