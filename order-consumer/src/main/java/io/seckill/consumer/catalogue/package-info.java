/**
 * What is for sale: products, the states of their sales, loading them into Redis, and changes of
 * their stock.
 */
@NullMarked
package io.seckill.consumer.catalogue;

import org.jspecify.annotations.NullMarked;
