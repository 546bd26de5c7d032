/**
 * The daily audit: one complete count of each sale, which proves the sums that are kept otherwise
 * and compares orders, quotas, payments and Redis.
 */
@NullMarked
package io.seckill.consumer.audit;

import org.jspecify.annotations.NullMarked;
