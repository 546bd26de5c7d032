/** The gateway's way to order-consumer, which owns every write to MySQL. */
@NullMarked
package io.seckill.gateway.consumer;

import org.jspecify.annotations.NullMarked;
