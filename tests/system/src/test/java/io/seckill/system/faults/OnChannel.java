package io.seckill.system.faults;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The channel and the durability of the gateways in a test's {@link FaultLab}. */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OnChannel {

  /** Value of {@code seckill.admission.channel}. */
  String value();

  /** Value of {@code seckill.admission.durable-in}. */
  String durableIn() default "redis";
}
