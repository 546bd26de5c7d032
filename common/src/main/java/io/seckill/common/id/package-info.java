/** Order ids; only the gateway generates them. */
@NullMarked
package io.seckill.common.id;

import org.jspecify.annotations.NullMarked;
