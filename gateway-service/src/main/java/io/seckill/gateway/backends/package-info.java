/** Calls Redis, MySQL and order-consumer within bounds and behind circuit breakers. */
@NullMarked
package io.seckill.gateway.backends;

import org.jspecify.annotations.NullMarked;
