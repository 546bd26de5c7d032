/** Carries admitted orders from the Redis outbox to RabbitMQ and loses none on the way. */
@NullMarked
package io.seckill.relay;

import org.jspecify.annotations.NullMarked;
