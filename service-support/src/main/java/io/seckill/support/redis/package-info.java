/** A service's Redis client and its settings. */
@NullMarked
package io.seckill.support.redis;

import org.jspecify.annotations.NullMarked;
