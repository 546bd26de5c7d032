/** Leases of lanes, and the adoption of private queues of dead lanes. */
@NullMarked
package io.seckill.relay.recovery;

import org.jspecify.annotations.NullMarked;
