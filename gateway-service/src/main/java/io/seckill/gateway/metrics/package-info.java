/** The gateway's metrics for people without Prometheus. */
@NullMarked
package io.seckill.gateway.metrics;

import org.jspecify.annotations.NullMarked;
