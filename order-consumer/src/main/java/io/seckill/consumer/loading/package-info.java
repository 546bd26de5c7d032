/**
 * Loads a sale from one snapshot of MySQL into Redis, under a new epoch that nothing of the old one
 * can reach any more.
 */
@NullMarked
package io.seckill.consumer.loading;

import org.jspecify.annotations.NullMarked;
