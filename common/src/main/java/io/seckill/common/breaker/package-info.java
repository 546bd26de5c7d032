/** Settings and metrics of circuit breakers. */
@NullMarked
package io.seckill.common.breaker;

import org.jspecify.annotations.NullMarked;
