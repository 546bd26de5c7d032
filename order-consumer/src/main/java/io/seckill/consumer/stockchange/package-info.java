/**
 * Units added to or withdrawn from a sale, in MySQL and in Redis, once per change id. The row of a
 * change is written first and drives both halves, whoever takes it up after a crash.
 */
@NullMarked
package io.seckill.consumer.stockchange;

import org.jspecify.annotations.NullMarked;
