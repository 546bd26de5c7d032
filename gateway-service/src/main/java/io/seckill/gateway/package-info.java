/** The shoppers' and operators' door: admits purchases through Redis and shows how they settle. */
@NullMarked
package io.seckill.gateway;

import org.jspecify.annotations.NullMarked;
