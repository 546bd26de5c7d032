/** Who is calling: bearer tokens, verified and remembered until they expire. */
@NullMarked
package io.seckill.gateway.security;

import org.jspecify.annotations.NullMarked;
