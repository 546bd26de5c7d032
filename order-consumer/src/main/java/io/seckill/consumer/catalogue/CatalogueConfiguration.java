package io.seckill.consumer.catalogue;

import io.seckill.consumer.sweep.Sweeper;
import java.time.Duration;
import org.hibernate.cfg.AvailableSettings;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What Hibernate must know about the ledger, whatever else is configured. */
@Configuration(proxyBeanMethods = false)
class CatalogueConfiguration {

  /** How long a store that answers again lacks a stop of the other. */
  private static final Duration STOP_SWEEP_PAUSE = Duration.ofSeconds(1);

  @Bean
  Sweeper pendingStopSweeper(PendingStops stops) {
    return new Sweeper("pending-stops", STOP_SWEEP_PAUSE, stops::sweep);
  }

  @Bean
  HibernatePropertiesCustomizer dialectOfTheLedger() {
    return properties ->
        properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }
}
