/**
 * The operators' endpoints: products, sales, stock, dead letters. Every write logs an audit line.
 */
@NullMarked
package io.seckill.gateway.admin;

import org.jspecify.annotations.NullMarked;
