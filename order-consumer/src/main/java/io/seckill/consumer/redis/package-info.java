/** The one Redis client of this service. */
@NullMarked
package io.seckill.consumer.redis;

import org.jspecify.annotations.NullMarked;
