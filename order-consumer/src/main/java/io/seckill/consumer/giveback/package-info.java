/** Returns units to Redis that MySQL has made free, once per order. */
@NullMarked
package io.seckill.consumer.giveback;

import org.jspecify.annotations.NullMarked;
