/** Exchanges and queues: their names, arguments and idempotent declaration. */
@NullMarked
package io.seckill.common.broker;

import org.jspecify.annotations.NullMarked;
