/**
 * The end of a sale: it leaves Redis, its rows move to history tables page by page, and rows that
 * are too old are deleted. Nothing here is urgent: every step yields to the storing of orders, and
 * may be cut off at any point.
 */
@NullMarked
package io.seckill.consumer.archive;

import org.jspecify.annotations.NullMarked;
