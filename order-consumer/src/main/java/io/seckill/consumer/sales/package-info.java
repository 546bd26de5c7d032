/**
 * How a sale goes on: it is opened, paused, resumed and closed in both stores, and its stock
 * changes.
 */
@NullMarked
package io.seckill.consumer.sales;

import org.jspecify.annotations.NullMarked;
