package io.seckill.consumer.consistency;

import java.util.List;

/**
 * The contents of one Redis partition, all read at one moment.
 *
 * @param outbox orders not taken by any lane yet
 * @param oldestMs age of the oldest of them since its admission; 0 when there is none
 * @param privateQueues orders in private queues, including those of dead lanes
 * @param deadPrivateQueues those of them whose lane is dead or has let its lease expire
 * @param sales every SKU preheated in the partition
 */
record PartitionBalanceItems(
    int partition,
    long outbox,
    long oldestMs,
    long privateQueues,
    long deadPrivateQueues,
    List<RedisSaleCounters> sales) {

  /** Orders that should be in the lists according to the counters of all SKUs. */
  long expected() {
    return sales.stream().mapToLong(sale -> sale.awaitingRelay().orders()).sum();
  }

  /** Orders counted but not in the lists; negative when the lists have more than was counted. */
  long difference() {
    return expected() - outbox - privateQueues;
  }
}
