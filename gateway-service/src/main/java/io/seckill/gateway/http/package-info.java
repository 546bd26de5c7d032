/** Lightweight HTTP answers on Reactor Netty for the hot paths: small values, no reflection. */
@NullMarked
package io.seckill.gateway.http;

import org.jspecify.annotations.NullMarked;
