/** Caches the products, and shows shoppers their lists, pages and remaining stock. */
@NullMarked
package io.seckill.gateway.catalogue;

import org.jspecify.annotations.NullMarked;
