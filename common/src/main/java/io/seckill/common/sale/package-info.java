/**
 * How a sale gets from MySQL into Redis: at a preheat, by the gateway, and at a rebuild after a
 * loss of data, by order-consumer.
 */
@NullMarked
package io.seckill.common.sale;

import org.jspecify.annotations.NullMarked;
