/** Threads that run beside the requests. */
@NullMarked
package io.seckill.support.thread;

import org.jspecify.annotations.NullMarked;
