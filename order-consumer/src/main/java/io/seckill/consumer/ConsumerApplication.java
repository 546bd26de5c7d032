package io.seckill.consumer;

import io.seckill.consumer.runtime.MigrationApplication;
import io.seckill.support.broker.BrokerSettings;
import io.seckill.support.redis.RedisConfiguration;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ShutdownDelay;
import java.time.Clock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Stores orders in MySQL, the system of record, and manages their lifecycle afterwards. */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableConfigurationProperties({
  BrokerSettings.class,
  DemoMode.class,
  InternalToken.class,
  ShutdownDelay.class
})
@Import({RedisConfiguration.class, AuditLog.class})
public class ConsumerApplication {

  /**
   * How often the connection pools close connections that have been idle for too long, ms. Their
   * default of 30 s is longer than MySQL keeps an idle connection: MySQL would close the connection
   * first, and both sides would log it.
   */
  private static final String IDLE_LOOK_MS = "2000";

  /**
   * Starts the service, or with {@code migrate} as the only argument changes the tables and ends;
   * configuration comes from the environment, see docs/configuration.md.
   */
  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals(MigrationApplication.COMMAND)) {
      MigrationApplication.run();
      return;
    }
    System.setProperty("com.zaxxer.hikari.housekeeping.periodMs", IDLE_LOOK_MS);
    SpringApplication.run(ConsumerApplication.class, args);
  }

  /** The wall clock of the service; deadlines inside one process use System.nanoTime instead. */
  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
