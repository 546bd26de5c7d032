/** The products from MySQL, cached in memory for the code that shows them to shoppers. */
@NullMarked
package io.seckill.gateway.products;

import org.jspecify.annotations.NullMarked;
