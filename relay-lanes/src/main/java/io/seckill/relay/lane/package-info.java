/**
 * Lanes take orders from the outbox, or from their gateway, publish them, and remove those that the
 * broker confirmed.
 */
@NullMarked
package io.seckill.relay.lane;

import org.jspecify.annotations.NullMarked;
