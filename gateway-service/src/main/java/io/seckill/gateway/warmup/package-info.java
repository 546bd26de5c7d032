/**
 * Purchases a gateway makes at itself before it calls itself ready, so that its code is compiled.
 */
@NullMarked
package io.seckill.gateway.warmup;

import org.jspecify.annotations.NullMarked;
