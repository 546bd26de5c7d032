package io.seckill.consumer.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The body of a request as a record, read by {@link io.seckill.support.web.StrictJson}; or its
 * bytes, of any media type and with one byte more when it is longer than {@link #MAX_BYTES}, when a
 * signature must be checked before anything else.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface JsonBody {

  /** Longest body: room for a batch of operations on wallets. */
  int MAX_BYTES = 262_144;
}
