/** Publishes admitted orders from the Redis outbox to RabbitMQ, without losing any. */
@NullMarked
package io.seckill.relay;

import org.jspecify.annotations.NullMarked;
