/** Authentication of callers: bearer tokens, verified and cached until they expire. */
@NullMarked
package io.seckill.gateway.security;

import org.jspecify.annotations.NullMarked;
