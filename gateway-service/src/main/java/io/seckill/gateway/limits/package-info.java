/** Rate limits per user and per address, checked before other work is done for a request. */
@NullMarked
package io.seckill.gateway.limits;

import org.jspecify.annotations.NullMarked;
