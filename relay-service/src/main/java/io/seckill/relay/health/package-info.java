/** Health of the relay, for an orchestrator. */
@NullMarked
package io.seckill.relay.health;

import org.jspecify.annotations.NullMarked;
