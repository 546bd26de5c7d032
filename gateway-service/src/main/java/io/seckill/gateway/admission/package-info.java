/**
 * The atomic decision on one purchase: HTTP route, scripts, sold-out shield, and the watch over
 * Redis.
 */
@NullMarked
package io.seckill.gateway.admission;

import org.jspecify.annotations.NullMarked;
