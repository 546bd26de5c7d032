package io.seckill.consumer.deadletter;

import io.seckill.consumer.runtime.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DeadLetterConfiguration {

  @Bean
  Sweeper deadLetterDrainer(DeadLetterDrain drain, DeadLetterProperties properties) {
    return new Sweeper("dead-letter-drain", properties.drainInterval(), drain::drain);
  }
}
