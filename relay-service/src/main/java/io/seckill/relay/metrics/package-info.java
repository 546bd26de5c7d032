/** Metrics of the relay. */
@NullMarked
package io.seckill.relay.metrics;

import org.jspecify.annotations.NullMarked;
