/** Threads that look, now and then, for what a crash or a lost message left behind. */
@NullMarked
package io.seckill.consumer.sweep;

import org.jspecify.annotations.NullMarked;
