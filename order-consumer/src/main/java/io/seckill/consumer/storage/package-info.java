/**
 * Stores orders in MySQL, in batches or one by one, and proves with barriers that every message
 * published earlier is stored.
 */
@NullMarked
package io.seckill.consumer.storage;

import org.jspecify.annotations.NullMarked;
