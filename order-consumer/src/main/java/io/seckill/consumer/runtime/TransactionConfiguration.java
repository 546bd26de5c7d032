package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The transactions of the sweeps and the internal port, on Spring Boot's own connection pool; and
 * the check of the standbys.
 */
@Configuration(proxyBeanMethods = false)
class TransactionConfiguration {

  /** A request that waited 3 s for a lock is answered 503, and is not kept waiting again. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** A COMMIT waits for the standby, so seconds do not matter here. */
  private static final Duration STANDBY_CHECKS = Duration.ofSeconds(10);

  @Bean
  Sweeper standbyLagSweeper(StandbyLag lag) {
    return new Sweeper("standby-lag", STANDBY_CHECKS, lag::round);
  }

  @Bean
  TransactionOperations transactions(PlatformTransactionManager manager, MeterRegistry meters) {
    return new RetryingTransactions(new TransactionTemplate(manager), PATIENCE, meters);
  }
}
