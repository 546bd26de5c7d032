package io.seckill.consumer.consistency;

/**
 * The messages of one order queue in the broker.
 *
 * @param unacked delivered to the queue's active consumer and not acked; some may already be stored
 */
record QueueBalanceItems(String queue, long ready, long unacked) {}
