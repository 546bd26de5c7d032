/**
 * The conservation equation of a SKU: the balance items that Redis, the broker and MySQL hold, read
 * in the order in which an order travels.
 */
@NullMarked
package io.seckill.consumer.ledger;

import org.jspecify.annotations.NullMarked;
