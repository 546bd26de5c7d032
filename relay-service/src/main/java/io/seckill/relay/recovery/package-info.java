/** Leases of lanes, and what to do with the private queues of lanes that are gone. */
@NullMarked
package io.seckill.relay.recovery;

import org.jspecify.annotations.NullMarked;
