/** Key names, client set-up and script execution; the only package that defines Redis keys. */
@NullMarked
package io.seckill.common.redis;

import org.jspecify.annotations.NullMarked;
