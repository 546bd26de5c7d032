package io.seckill.consumer.orders;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class CompensationConfiguration {

  /** Units that a crash or an outage left behind can be bought again this soon. */
  private static final Duration SWEEP_PAUSE = Duration.ofSeconds(2);

  @Bean
  Sweeper compensationSweeper(CompensationSweep sweep) {
    return new Sweeper("compensation-sweep", SWEEP_PAUSE, sweep::sweep);
  }
}
