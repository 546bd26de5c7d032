package io.seckill.consumer.deadletter;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DeadLetterConfiguration {

  /** The queue is normally empty; an operator sees a dead letter soon enough. */
  private static final Duration DRAIN_PAUSE = Duration.ofSeconds(1);

  @Bean
  Sweeper deadLetterDrainer(DeadLetterDrain drain) {
    return new Sweeper("dead-letter-drain", DRAIN_PAUSE, drain::drain);
  }
}
