package io.seckill.consumer.orders;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** For tests in which none is pending: it has no stores. */
public class NoCompensations extends Compensations {

  public NoCompensations() {
    super(null, null, null, null, new SimpleMeterRegistry());
  }
}
