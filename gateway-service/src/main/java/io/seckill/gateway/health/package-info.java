/** What probes are told: Redis and order-consumer, besides the gateway itself. */
@NullMarked
package io.seckill.gateway.health;

import org.jspecify.annotations.NullMarked;
