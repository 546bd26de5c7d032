/** Leases of lanes, the search for private queues of dead lanes, and the pauses after failures. */
@NullMarked
package io.seckill.relay.recovery;

import org.jspecify.annotations.NullMarked;
