/**
 * The conservation equation of a SKU, term by term: what Redis, the broker and MySQL hold of it,
 * read in the order in which an order travels.
 */
@NullMarked
package io.seckill.consumer.ledger;

import org.jspecify.annotations.NullMarked;
