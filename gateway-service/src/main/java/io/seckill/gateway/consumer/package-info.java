/** The gateway's client of order-consumer, which performs every write to MySQL. */
@NullMarked
package io.seckill.gateway.consumer;

import org.jspecify.annotations.NullMarked;
