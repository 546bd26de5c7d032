package io.seckill.consumer.audit;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic task of the daily audit. */
@Configuration(proxyBeanMethods = false)
class AuditConfiguration {

  private static final Duration PAUSE = Duration.ofMinutes(1);

  @Bean
  Sweeper auditSweeper(DailyAudit audit) {
    return new Sweeper("daily-audit", PAUSE, audit::round);
  }
}
