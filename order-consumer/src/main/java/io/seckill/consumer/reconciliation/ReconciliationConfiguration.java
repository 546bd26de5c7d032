package io.seckill.consumer.reconciliation;

import io.seckill.consumer.sweep.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class ReconciliationConfiguration {

  @Bean
  Sweeper reconciliationSweeper(Schedule schedule, ReconciliationProperties properties) {
    return new Sweeper("reconciliation", properties.interval(), schedule::round);
  }
}
