package io.seckill.consumer.products;

import org.hibernate.cfg.AvailableSettings;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Sets Hibernate's dialect resolver in every configuration. */
@Configuration(proxyBeanMethods = false)
class DialectConfiguration {

  @Bean
  HibernatePropertiesCustomizer dialectOfTheLedger() {
    return properties ->
        properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }
}
