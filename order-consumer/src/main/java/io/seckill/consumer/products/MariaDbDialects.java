package io.seckill.consumer.products;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hibernate.cfg.AvailableSettings;
import org.hibernate.dialect.DatabaseVersion;
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

  /** As it reports itself, also from 11 on: "11.4.2-MariaDB". */
  private static final Pattern VERSION =
      Pattern.compile("(?:5\\.5\\.5-)?(\\d+)\\.(\\d+)\\.(\\d+).*MariaDB.*");

  /** Hibernate makes an instance of its own. */
  @Override
  public void customize(Map<String, Object> properties) {
    properties.put(AvailableSettings.DIALECT_RESOLVERS, MariaDbDialects.class.getName());
  }

  @Override
  public @Nullable Dialect resolveDialect(DialectResolutionInfo info) {
    String version = info.getDatabaseVersion();
    Matcher mariaDb = VERSION.matcher(version == null ? "" : version);
    return mariaDb.matches() ? new MariaDBDialect(version(mariaDb)) : null;
  }

  private static DatabaseVersion version(Matcher parts) {
    return DatabaseVersion.make(
        Integer.valueOf(parts.group(1)),
        Integer.valueOf(parts.group(2)),
        Integer.valueOf(parts.group(3)));
  }
}
