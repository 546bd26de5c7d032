package io.seckill.relay;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Publishes admitted orders from the Redis outbox to RabbitMQ, without losing any. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class RelayApplication {

  /** Starts the service; configuration comes from the environment, see docs/configuration.md. */
  public static void main(String[] args) {
    SpringApplication.run(RelayApplication.class, args);
  }
}
