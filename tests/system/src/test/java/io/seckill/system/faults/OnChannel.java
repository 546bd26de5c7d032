package io.seckill.system.faults;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How the gateways in a test's {@link FaultLab} are set up. */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OnChannel {

  /** Value of {@code seckill.admission.durable-in}. */
  String durableIn() default "redis";

  /** How many replicas must confirm an order where {@code durableIn} is "replicas". */
  int replicas() default 1;

  /** Value of {@code seckill.fallback}, also of the consumers. */
  String fallback() default "off";
}
