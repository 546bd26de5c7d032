/**
 * The end of a sale: it leaves Redis, its rows move to history tables page by page, and rows that
 * are too old are deleted, in steps that yield to the storing of orders.
 */
@NullMarked
package io.seckill.consumer.archive;

import org.jspecify.annotations.NullMarked;
