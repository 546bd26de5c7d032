package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.MeterRegistry;

/** A pace for tests without MySQL: no order is stored meanwhile, so nothing rests. */
public final class IdlePaces {

  private IdlePaces() {}

  public static Pace create(MeterRegistry meters) {
    return new Pace(() -> Pace.StoringLoad.IDLE, System::nanoTime, Sleeps::nanos, meters);
  }
}
