/** The operators' view of the relays: their lanes, and the outboxes that the lanes drain. */
@NullMarked
package io.seckill.gateway.lanes;

import org.jspecify.annotations.NullMarked;
