package io.seckill.consumer.shards;

/**
 * What Redis has of a shard, at one moment.
 *
 * @param nowMs of that moment, Unix ms by the clock of its Redis
 * @param stock units admissible
 * @param admitted units of all orders
 * @param asked units for which shoppers wait, 0 for none
 * @param askedForMs how long the first of them has waited
 */
record ShardState(
    long id, long nowMs, long epoch, long stock, long admitted, long asked, long askedForMs) {

  /** What admissions do not change, and every other change of the stock does. */
  long supply() {
    return stock + admitted;
  }
}
