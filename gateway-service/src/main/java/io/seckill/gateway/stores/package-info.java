/** Blocking calls to Redis and MySQL, kept off the event loop and within bounds. */
@NullMarked
package io.seckill.gateway.stores;

import org.jspecify.annotations.NullMarked;
