/**
 * Barrier messages, which prove that no earlier message is left in the broker: when a barrier has
 * passed, every message published to the queue before it is in MySQL, as an order or a dead letter.
 */
@NullMarked
package io.seckill.consumer.barrier;

import org.jspecify.annotations.NullMarked;
