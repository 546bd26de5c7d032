/** Key names, client set-up and script execution; the only place that spells a Redis key. */
@NullMarked
package io.seckill.common.redis;

import org.jspecify.annotations.NullMarked;
