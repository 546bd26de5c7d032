/**
 * The operators' endpoints: products, sales, stock, dead letters, ledger and reconciliation, each
 * write with an audit line.
 */
@NullMarked
package io.seckill.gateway.admin;

import org.jspecify.annotations.NullMarked;
