/**
 * Compares a sale in Redis with MySQL, repairs Redis or loads it again, and sends lost orders
 * again.
 */
@NullMarked
package io.seckill.consumer.reconciliation;

import org.jspecify.annotations.NullMarked;
