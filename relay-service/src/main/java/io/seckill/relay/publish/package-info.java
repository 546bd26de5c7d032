/**
 * Publishes orders to the broker: one connection and channel per lane, a bounded window of
 * unconfirmed publishes.
 */
@NullMarked
package io.seckill.relay.publish;

import org.jspecify.annotations.NullMarked;
