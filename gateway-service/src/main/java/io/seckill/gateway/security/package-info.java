/** Who calls, and how often: bearer tokens, and rate limits per user and per address. */
@NullMarked
package io.seckill.gateway.security;

import org.jspecify.annotations.NullMarked;
