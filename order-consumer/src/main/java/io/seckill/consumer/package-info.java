/** Writes orders to MySQL, the ledger of record, and keeps their life after it. */
@NullMarked
package io.seckill.consumer;

import org.jspecify.annotations.NullMarked;
