package io.seckill.consumer.compensation;

import io.seckill.consumer.sweep.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class CompensationConfiguration {

  @Bean
  Sweeper compensationSweeper(CompensationSweep sweep, CompensationProperties properties) {
    return new Sweeper("compensation-sweep", properties.sweepInterval(), sweep::sweep);
  }
}
