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

  /** Starts the service; configuration comes from the environment, see docs/configuration.md. */
  public static void main(String[] args) {
    SpringApplication.run(ConsumerApplication.class, args);
  }

  /** The service's idea of now; deadlines inside one process use System.nanoTime instead. */
  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
