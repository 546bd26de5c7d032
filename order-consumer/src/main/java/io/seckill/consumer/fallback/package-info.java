/**
 * Lets MySQL decide the sales of Redis while Redis cannot: which gateways there are, when a
 * fallback begins and ends, and what is reserved meanwhile (docs/adr/0021-fallback.md).
 */
@NullMarked
package io.seckill.consumer.fallback;

import org.jspecify.annotations.NullMarked;
