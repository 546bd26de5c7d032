/** Load from outside: wrk for throughput, an open-loop loader for latencies. */
@NullMarked
package io.seckill.system.load;

import org.jspecify.annotations.NullMarked;
