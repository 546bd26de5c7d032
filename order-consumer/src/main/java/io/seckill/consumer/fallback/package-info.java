/**
 * Lets MySQL decide the sales of Redis while Redis cannot: the gateways, the beginning and the end
 * of a fallback, and the units reserved meanwhile (docs/adr/0021-fallback.md).
 */
@NullMarked
package io.seckill.consumer.fallback;

import org.jspecify.annotations.NullMarked;
