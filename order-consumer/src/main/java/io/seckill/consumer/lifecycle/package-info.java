/**
 * The life of an order after it was stored: paid, cancelled by its shopper, or expired. Exactly one
 * of them happens; an order that ends without a payment returns its units, in MySQL at once and in
 * Redis by compensation.
 */
@NullMarked
package io.seckill.consumer.lifecycle;

import org.jspecify.annotations.NullMarked;
