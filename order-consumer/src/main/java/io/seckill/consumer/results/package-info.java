/** Writes MySQL's decisions to Redis, for order status and queue position. */
@NullMarked
package io.seckill.consumer.results;

import org.jspecify.annotations.NullMarked;
