/** The atomic yes or no on one purchase: scripts, batching, shield, breaker, and the HTTP door. */
@NullMarked
package io.seckill.gateway.admission;

import org.jspecify.annotations.NullMarked;
