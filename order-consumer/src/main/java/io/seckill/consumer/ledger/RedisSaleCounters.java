package io.seckill.consumer.ledger;

import io.seckill.consumer.ledger.DatabaseSaleCounters.Item;
import io.seckill.consumer.orders.OrderTotals;

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
    long skuId, long stock, long epoch, long seq, OrderTotals admitted, OrderTotals published) {

  /**
   * Stands for a sale that Redis does not have: only decided orders and dead letters are known to
   * be admitted, and none is in flight.
   */
  static RedisSaleCounters absent(DatabaseSaleCounters mysql, long stock) {
    OrderTotals dead = mysql.of(Item.DEAD_LETTERS);
    OrderTotals known = mysql.decided().plus(dead);
    return new RedisSaleCounters(
        mysql.skuId(), stock, mysql.epoch(), mysql.settled() + dead.orders(), known, known);
  }

  /**
   * Stands for a strong sale, which is not in Redis: MySQL's stock is on sale, the orders that
   * MySQL has counted are admitted, and none is in flight.
   */
  static RedisSaleCounters none(DatabaseSaleCounters mysql) {
    OrderTotals counted = new OrderTotals(mysql.settled(), mysql.decided().units());
    return new RedisSaleCounters(
        mysql.skuId(), mysql.stock(), mysql.epoch(), mysql.settled(), counted, counted);
  }

  /** Admitted and not counted as published: in the outbox or in a private queue. */
  OrderTotals awaitingRelay() {
    return admitted.minus(published);
  }
}
