/** Keeps messages that cannot be stored, with their reason. */
@NullMarked
package io.seckill.consumer.deadletter;

import org.jspecify.annotations.NullMarked;
