package io.seckill.consumer.catalogue;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.hibernate.cfg.AvailableSettings;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Sets Hibernate's dialect resolver in every configuration, and sweeps pending stops and stock
 * changes.
 */
@Configuration(proxyBeanMethods = false)
class CatalogueConfiguration {

  /** How long a store that is available again may lack a stop that the other store has. */
  private static final Duration STOP_SWEEP_PAUSE = Duration.ofSeconds(1);

  /** Only a change that Redis did not confirm waits for the sweep, with its operator. */
  private static final Duration CHANGE_SWEEP_PAUSE = Duration.ofSeconds(5);

  @Bean
  Sweeper pendingStopSweeper(PendingStops stops) {
    return new Sweeper("pending-stops", STOP_SWEEP_PAUSE, stops::sweep);
  }

  @Bean
  Sweeper stockChangeSweeper(StockChanges changes) {
    return new Sweeper("stock-change-sweep", CHANGE_SWEEP_PAUSE, changes::sweep);
  }

  @Bean
  HibernatePropertiesCustomizer dialectOfTheLedger() {
    return properties ->
        properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }
}
