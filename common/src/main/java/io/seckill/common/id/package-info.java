/** Order ids, made at the entrance and nowhere else. */
@NullMarked
package io.seckill.common.id;

import org.jspecify.annotations.NullMarked;
