package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/** The transactions of the sweeps and the internal port, on Spring Boot's own connection pool. */
@Configuration(proxyBeanMethods = false)
class TransactionConfiguration {

  /** A request that waited 3 s for a lock is answered 503, and is not kept waiting again. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @Bean
  TransactionOperations transactions(PlatformTransactionManager manager, MeterRegistry meters) {
    return new RetryingTransactions(new TransactionTemplate(manager), PATIENCE, meters);
  }
}
