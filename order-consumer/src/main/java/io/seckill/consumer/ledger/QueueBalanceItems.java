package io.seckill.consumer.ledger;

/**
 * What the broker holds of one order queue.
 *
 * @param unacked delivered to the queue's active consumer and not acked; stored already, some of
 *     them
 */
public record QueueBalanceItems(String queue, long ready, long unacked) {}
