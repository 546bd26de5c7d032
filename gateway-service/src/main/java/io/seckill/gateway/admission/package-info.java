/**
 * The atomic decision on one purchase: scripts, batching, sold-out shield, breaker and HTTP route.
 */
@NullMarked
package io.seckill.gateway.admission;

import org.jspecify.annotations.NullMarked;
