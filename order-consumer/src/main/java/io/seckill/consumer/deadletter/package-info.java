/**
 * Messages that cannot be stored: kept with their reason, shown, replayed or discarded by
 * operators.
 */
@NullMarked
package io.seckill.consumer.deadletter;

import org.jspecify.annotations.NullMarked;
