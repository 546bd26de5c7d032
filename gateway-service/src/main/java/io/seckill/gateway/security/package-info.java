/** Authenticates callers by bearer tokens, and limits requests per user and per address. */
@NullMarked
package io.seckill.gateway.security;

import org.jspecify.annotations.NullMarked;
