/**
 * What is for sale: products, the states of their sales, their loading into Redis from snapshots of
 * MySQL, and changes of their stock.
 */
@NullMarked
package io.seckill.consumer.catalogue;

import org.jspecify.annotations.NullMarked;
