/** The benchmark: scripts/bench measures every stage together with its ceiling and its baseline. */
@NullMarked
package io.seckill.bench;

import org.jspecify.annotations.NullMarked;
