/** What shoppers see of products: lists, pages, and the stock that is left. */
@NullMarked
package io.seckill.gateway.catalogue;

import org.jspecify.annotations.NullMarked;
