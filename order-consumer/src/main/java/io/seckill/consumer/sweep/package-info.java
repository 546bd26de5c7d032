/** Threads that periodically complete what a crash or a lost message left behind. */
@NullMarked
package io.seckill.consumer.sweep;

import org.jspecify.annotations.NullMarked;
