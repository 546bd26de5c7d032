/** The gateway's access to Redis: settings, client, breaker and request batching. */
@NullMarked
package io.seckill.gateway.redis;

import org.jspecify.annotations.NullMarked;
