/**
 * The benchmark: scripts/bench measures every stage beside its ceiling and beside the obvious
 * design.
 */
@NullMarked
package io.seckill.bench;

import org.jspecify.annotations.NullMarked;
