/** HTTP clients for shoppers and operators. */
@NullMarked
package io.seckill.system.shop;

import org.jspecify.annotations.NullMarked;
