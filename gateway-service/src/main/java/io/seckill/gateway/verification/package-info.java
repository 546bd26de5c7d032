/** Compares Redis with MySQL, and so decides from which servers and sales a gateway may sell. */
@NullMarked
package io.seckill.gateway.verification;

import org.jspecify.annotations.NullMarked;
