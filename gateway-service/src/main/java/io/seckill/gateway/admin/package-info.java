/**
 * The operators' endpoints, each write with an audit line: all calls are passed on to
 * order-consumer, except pause and close.
 */
@NullMarked
package io.seckill.gateway.admin;

import org.jspecify.annotations.NullMarked;
