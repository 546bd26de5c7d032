/** Calls of Redis whose failure must not delay the caller. */
@NullMarked
package io.seckill.consumer.redis;

import org.jspecify.annotations.NullMarked;
