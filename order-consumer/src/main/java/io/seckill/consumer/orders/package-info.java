/**
 * Stored orders, and what Redis learns of them: their results, and compensation, which returns the
 * units of an order once.
 */
@NullMarked
package io.seckill.consumer.orders;

import org.jspecify.annotations.NullMarked;
