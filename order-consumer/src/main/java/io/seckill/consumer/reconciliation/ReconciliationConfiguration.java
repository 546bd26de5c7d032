package io.seckill.consumer.reconciliation;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic tasks of reconciliation. */
@Configuration(proxyBeanMethods = false)
class ReconciliationConfiguration {

  /** Short, because a gateway that starts after a change of the Redis server waits for it. */
  private static final Duration SERVER_CHECKS = Duration.ofSeconds(1);

  @Bean
  Sweeper redisServerSweeper(RedisServers servers) {
    return new Sweeper("redis-servers", SERVER_CHECKS, servers::round);
  }

  @Bean
  Sweeper reconciliationSweeper(Schedule schedule, ReconciliationProperties properties) {
    return new Sweeper("reconciliation", properties.interval(), schedule::round);
  }
}
