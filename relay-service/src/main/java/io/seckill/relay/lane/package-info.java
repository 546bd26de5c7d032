/** Lanes: take orders from the outbox, have them published, remove what the broker confirmed. */
@NullMarked
package io.seckill.relay.lane;

import org.jspecify.annotations.NullMarked;
