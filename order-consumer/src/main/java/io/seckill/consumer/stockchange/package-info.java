/**
 * Units added to or withdrawn from a sale, in MySQL and in Redis, once per change id. The row of a
 * change is written first; after a crash, any process completes both halves from it.
 */
@NullMarked
package io.seckill.consumer.stockchange;

import org.jspecify.annotations.NullMarked;
