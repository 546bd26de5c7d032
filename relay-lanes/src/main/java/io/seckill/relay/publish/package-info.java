/**
 * Publishes orders to the broker with a bounded window of unconfirmed publishes per lane, and
 * counts what the relay does.
 */
@NullMarked
package io.seckill.relay.publish;

import org.jspecify.annotations.NullMarked;
