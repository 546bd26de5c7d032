/** The gateway and the services it uses, set up for tests. */
@NullMarked
package io.seckill.gateway.testing;

import org.jspecify.annotations.NullMarked;
