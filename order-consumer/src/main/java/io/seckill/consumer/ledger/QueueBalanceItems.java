package io.seckill.consumer.ledger;

/**
 * The messages of one order queue in the broker.
 *
 * @param unacked delivered to the queue's active consumer and not acked; some may already be stored
 */
public record QueueBalanceItems(String queue, long ready, long unacked) {}
