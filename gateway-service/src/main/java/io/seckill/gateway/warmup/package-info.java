/**
 * Purchases that a gateway sends to itself before it reports ready, so that its code is compiled.
 */
@NullMarked
package io.seckill.gateway.warmup;

import org.jspecify.annotations.NullMarked;
