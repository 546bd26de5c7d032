package io.seckill.gateway;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * The HTTP entry point for shoppers and operators: admits purchases through Redis and shows the
 * state of their orders.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class GatewayApplication {

  /** Starts the service; configuration comes from the environment, see docs/configuration.md. */
  public static void main(String[] args) {
    SpringApplication.run(GatewayApplication.class, args);
  }
}
