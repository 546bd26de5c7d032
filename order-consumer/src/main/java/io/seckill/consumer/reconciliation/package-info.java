/**
 * Compares Redis with MySQL and sets Redis right: orders that are nowhere, results, quotas and
 * stock that disagree, and whole sales whose data Redis has lost. MySQL is never changed by it,
 * except that orders come to it again.
 */
@NullMarked
package io.seckill.consumer.reconciliation;

import org.jspecify.annotations.NullMarked;
