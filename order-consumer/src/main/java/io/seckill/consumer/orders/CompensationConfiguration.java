package io.seckill.consumer.orders;

import io.seckill.consumer.runtime.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class CompensationConfiguration {

  @Bean
  Sweeper compensationSweeper(CompensationSweep sweep, CompensationProperties properties) {
    return new Sweeper("compensation-sweep", properties.sweepInterval(), sweep::sweep);
  }
}
