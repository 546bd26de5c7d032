/**
 * Stock shards: moves the units of a SKU to the shards where they are asked for, and proves that
 * none is left.
 */
@NullMarked
package io.seckill.consumer.shards;

import org.jspecify.annotations.NullMarked;
