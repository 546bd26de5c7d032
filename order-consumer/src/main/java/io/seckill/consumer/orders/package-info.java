/**
 * Stored orders and their end without a payment; their results for Redis, and compensation, which
 * returns the units of an order once.
 */
@NullMarked
package io.seckill.consumer.orders;

import org.jspecify.annotations.NullMarked;
