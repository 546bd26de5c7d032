package io.seckill.consumer.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The body of a request as a record, read by {@link io.seckill.support.web.StrictJson}. */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface JsonBody {

  /** Longest body: room for a batch of operations on wallets. */
  int MAX_BYTES = 262_144;
}
