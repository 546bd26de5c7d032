/**
 * The end of an order that was stored: exactly one of paid, cancelled by its shopper, or expired
 * when its time to pay is over.
 */
@NullMarked
package io.seckill.consumer.payment;

import org.jspecify.annotations.NullMarked;
