package io.seckill.consumer.runtime;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.annotation.Import;

/**
 * Changes the tables and ends, so that no running service needs the password of their owner. Needs
 * the properties {@code spring.flyway.*} and {@code spring.datasource.url} only.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@ImportAutoConfiguration({DataSourceAutoConfiguration.class, FlywayAutoConfiguration.class})
@EnableConfigurationProperties({MigrationProperties.class, ServerProperties.class})
@Import(DatabaseStartupWait.class)
public final class MigrationApplication {

  /** The argument with which order-consumer does nothing else. */
  public static final String COMMAND = "migrate";

  MigrationApplication() {}

  /** Waits for MySQL, migrates, and closes its connections. */
  public static void run(String... settings) {
    new SpringApplicationBuilder(MigrationApplication.class)
        .web(WebApplicationType.NONE)
        .run(settings)
        .close();
  }
}
