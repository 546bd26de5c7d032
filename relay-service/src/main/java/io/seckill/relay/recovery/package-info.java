/** Leases of lanes, the adoption of private queues of dead lanes, and the pauses after failures. */
@NullMarked
package io.seckill.relay.recovery;

import org.jspecify.annotations.NullMarked;
