/** The thin way of answering on Reactor Netty: small values, no reflection, for the hot paths. */
@NullMarked
package io.seckill.gateway.http;

import org.jspecify.annotations.NullMarked;
