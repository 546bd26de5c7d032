/**
 * Messages that prove what is not in the broker: whatever was published to a queue before a barrier
 * is in MySQL, as an order or a dead letter, when the barrier has passed.
 */
@NullMarked
package io.seckill.consumer.barrier;

import org.jspecify.annotations.NullMarked;
