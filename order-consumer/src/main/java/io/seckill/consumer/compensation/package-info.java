/** Returns to Redis the units that MySQL has freed, once per order. */
@NullMarked
package io.seckill.consumer.compensation;

import org.jspecify.annotations.NullMarked;
