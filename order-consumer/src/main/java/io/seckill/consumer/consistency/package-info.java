/**
 * Whether Redis, the broker and MySQL add up: the ledger counts every unit and order of a SKU, and
 * reconciliation compares Redis with MySQL and repairs Redis.
 */
@NullMarked
package io.seckill.consumer.consistency;

import org.jspecify.annotations.NullMarked;
