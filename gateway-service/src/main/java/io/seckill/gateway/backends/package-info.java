/**
 * Redis, MySQL and order-consumer as the gateway calls them: batched, within bounds, and behind
 * breakers.
 */
@NullMarked
package io.seckill.gateway.backends;

import org.jspecify.annotations.NullMarked;
