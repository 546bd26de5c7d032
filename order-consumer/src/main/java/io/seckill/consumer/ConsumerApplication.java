package io.seckill.consumer;

import java.time.Clock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.Bean;

/** Writes orders to MySQL, the ledger of record, and keeps their life after it. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class ConsumerApplication {

  /**
   * How often the connection pools close what has been idle for too long, ms. Their own half a
   * minute is longer than MySQL keeps a silent connection: it would end them first, and both would
   * log it.
   */
  private static final String IDLE_LOOK_MS = "2000";

  /** Starts the service; configuration comes from the environment, see docs/configuration.md. */
  public static void main(String[] args) {
    System.setProperty("com.zaxxer.hikari.housekeeping.periodMs", IDLE_LOOK_MS);
    SpringApplication.run(ConsumerApplication.class, args);
  }

  /** The service's idea of now; deadlines inside one process use System.nanoTime instead. */
  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
