package io.seckill.consumer.products;

import java.util.Map;
import org.hibernate.cfg.AvailableSettings;
import org.hibernate.dialect.Dialect;
import org.hibernate.dialect.MariaDBDialect;
import org.hibernate.engine.jdbc.dialect.spi.DialectResolutionInfo;
import org.hibernate.engine.jdbc.dialect.spi.DialectResolver;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.stereotype.Component;

/**
 * Recognises MariaDB behind MySQL's driver. MariaDB reports its version there as
 * "5.5.5-10.11.6-MariaDB", which Hibernate takes for MySQL 5.5.5, a version it no longer supports.
 */
@Component
@SuppressWarnings("serial") // Hibernate's interface is serializable for reasons of its own
public final class MariaDbDialects implements DialectResolver, HibernatePropertiesCustomizer {

  /** Hibernate makes an instance of its own. */
  @Override
  public void customize(Map<String, Object> properties) {
    properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }

  @Override
  public @Nullable Dialect resolveDialect(DialectResolutionInfo info) {
    String version = info.getDatabaseVersion();
    return version != null && version.contains("MariaDB") ? new MariaDBDialect(info) : null;
  }
}
