/**
 * Publishes orders to the broker with a bounded window of unconfirmed publishes per lane, and
 * counts the relay's work.
 */
@NullMarked
package io.seckill.relay.publish;

import org.jspecify.annotations.NullMarked;
