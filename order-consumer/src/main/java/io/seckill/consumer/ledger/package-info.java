/** Whether Redis, the broker and MySQL add up: counts every unit and order of a SKU. */
@NullMarked
package io.seckill.consumer.ledger;

import org.jspecify.annotations.NullMarked;
