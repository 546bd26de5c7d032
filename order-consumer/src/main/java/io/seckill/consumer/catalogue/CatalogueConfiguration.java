package io.seckill.consumer.catalogue;

import org.hibernate.cfg.AvailableSettings;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What Hibernate must know about the ledger, whatever else is configured. */
@Configuration(proxyBeanMethods = false)
class CatalogueConfiguration {

  @Bean
  HibernatePropertiesCustomizer dialectOfTheLedger() {
    return properties ->
        properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }
}
