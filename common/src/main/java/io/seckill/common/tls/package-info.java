/** Whom the services believe when a store shows its certificate. */
@NullMarked
package io.seckill.common.tls;

import org.jspecify.annotations.NullMarked;
