/**
 * The states of sales in Redis, operators' stops that MySQL lacks, and when a sale's keys expire.
 */
@NullMarked
package io.seckill.common.sale;

import org.jspecify.annotations.NullMarked;
