/** What order-consumer's internal port and the gateway, its client, share. */
@NullMarked
package io.seckill.support.internal;

import org.jspecify.annotations.NullMarked;
