package io.seckill.consumer.sweep;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;

/** Limits the time that all sweepers together have to stop. */
@Configuration(proxyBeanMethods = false)
class SweepConfiguration {

  SweepConfiguration(DefaultLifecycleProcessor stops) {
    stops.setTimeoutForShutdownPhase(Sweeper.PHASE, Sweeper.LONGEST_STOP.toMillis());
  }
}
