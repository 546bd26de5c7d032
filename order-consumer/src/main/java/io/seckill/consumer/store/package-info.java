/** Stores orders in MySQL in batches, one by one where needed. MySQL's decision is final. */
@NullMarked
package io.seckill.consumer.store;

import org.jspecify.annotations.NullMarked;
