/** Redis access of the relay: orders are bytes, passed on unchanged. */
@NullMarked
package io.seckill.relay.redis;

import org.jspecify.annotations.NullMarked;
