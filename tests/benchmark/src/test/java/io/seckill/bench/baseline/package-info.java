/**
 * Baselines and ceilings: the designs most would write first, and the limits of servers and
 * libraries.
 */
@NullMarked
package io.seckill.bench.baseline;

import org.jspecify.annotations.NullMarked;
