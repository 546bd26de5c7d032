/** The gateway and its neighbours, as tests need them. */
@NullMarked
package io.seckill.gateway.testing;

import org.jspecify.annotations.NullMarked;
