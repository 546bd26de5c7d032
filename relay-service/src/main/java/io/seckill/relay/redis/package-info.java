/** Redis as the relay uses it: orders are bytes, passed on as they are. */
@NullMarked
package io.seckill.relay.redis;

import org.jspecify.annotations.NullMarked;
