/** What the relay says about itself to an orchestrator. */
@NullMarked
package io.seckill.relay.health;

import org.jspecify.annotations.NullMarked;
