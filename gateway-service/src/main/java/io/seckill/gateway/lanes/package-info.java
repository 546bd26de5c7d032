/** What operators see of the relays: their lanes, and the outboxes these drain. */
@NullMarked
package io.seckill.gateway.lanes;

import org.jspecify.annotations.NullMarked;
