/**
 * Compares Redis with MySQL and repairs Redis: lost orders, results, quotas and stock that differ,
 * and whole sales whose data Redis has lost. It never changes MySQL, except that orders are sent to
 * it again.
 */
@NullMarked
package io.seckill.consumer.reconciliation;

import org.jspecify.annotations.NullMarked;
