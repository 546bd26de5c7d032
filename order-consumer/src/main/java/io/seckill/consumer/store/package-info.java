/** Writes orders to MySQL in batches and decides every odd one. MySQL has the last word. */
@NullMarked
package io.seckill.consumer.store;

import org.jspecify.annotations.NullMarked;
