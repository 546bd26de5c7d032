package io.seckill.consumer.giveback;

import io.seckill.consumer.sweep.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class GiveBackConfiguration {

  @Bean
  Sweeper giveBackSweeper(GiveBackSweep sweep, GiveBackProperties properties) {
    return new Sweeper("give-back-sweep", properties.sweepInterval(), sweep::sweep);
  }
}
