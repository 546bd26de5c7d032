/** Health for probes and people: Redis, MySQL and order-consumer, besides the gateway itself. */
@NullMarked
package io.seckill.gateway.health;

import org.jspecify.annotations.NullMarked;
