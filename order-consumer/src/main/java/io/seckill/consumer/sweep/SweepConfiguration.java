package io.seckill.consumer.sweep;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;

/** Bounds the end of all sweepers together. */
@Configuration(proxyBeanMethods = false)
class SweepConfiguration {

  SweepConfiguration(DefaultLifecycleProcessor stops) {
    stops.setTimeoutForShutdownPhase(Sweeper.PHASE, Sweeper.LONGEST_STOP.toMillis());
  }
}
