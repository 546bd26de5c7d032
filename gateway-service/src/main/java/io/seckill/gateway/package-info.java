/**
 * The HTTP entry point for shoppers and operators: admits purchases through Redis and shows the
 * state of their orders.
 */
@NullMarked
package io.seckill.gateway;

import org.jspecify.annotations.NullMarked;
