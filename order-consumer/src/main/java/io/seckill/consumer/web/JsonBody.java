package io.seckill.consumer.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The body of a request as a record, read by {@link io.seckill.support.web.StrictJson}; or its
 * bytes, when a signature must be checked before anything is read from it.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface JsonBody {}
