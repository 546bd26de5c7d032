/** The products as MySQL has them, in memory for whoever shows them to shoppers. */
@NullMarked
package io.seckill.gateway.products;

import org.jspecify.annotations.NullMarked;
