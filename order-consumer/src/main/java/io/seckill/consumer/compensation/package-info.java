/** Returns units to Redis that MySQL has made free, once per order. */
@NullMarked
package io.seckill.consumer.compensation;

import org.jspecify.annotations.NullMarked;
