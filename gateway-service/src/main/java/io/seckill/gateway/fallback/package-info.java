/** What this gateway may promise while MySQL may decide the sales of Redis. */
@NullMarked
package io.seckill.gateway.fallback;

import org.jspecify.annotations.NullMarked;
