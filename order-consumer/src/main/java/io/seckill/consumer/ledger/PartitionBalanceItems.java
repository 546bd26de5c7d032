package io.seckill.consumer.ledger;

import java.util.List;

/**
 * What one partition of Redis holds, all of one moment.
 *
 * @param outbox orders no lane has taken
 * @param oldestMs age of the oldest of them since its admission; 0 when there is none
 * @param privateQueues orders in private queues, dead ones too
 * @param deadPrivateQueues those of them whose lane is dead or has let its lease lapse
 * @param sales every SKU preheated in the partition
 */
public record PartitionBalanceItems(
    int partition,
    long outbox,
    long oldestMs,
    long privateQueues,
    long deadPrivateQueues,
    List<RedisSaleCounters> sales) {

  /** Orders that the counters of all SKUs say are in the lists. */
  public long expected() {
    return sales.stream().mapToLong(sale -> sale.awaitingRelay().orders()).sum();
  }

  /** Orders counted and not there; negative when there are more than counted. */
  public long difference() {
    return expected() - outbox - privateQueues;
  }
}
