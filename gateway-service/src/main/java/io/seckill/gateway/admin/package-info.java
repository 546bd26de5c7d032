/** Operators' calls: products, sales, stock, dead letters. Every write leaves an audit line. */
@NullMarked
package io.seckill.gateway.admin;

import org.jspecify.annotations.NullMarked;
