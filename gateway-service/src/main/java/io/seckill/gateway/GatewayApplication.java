package io.seckill.gateway;

import io.seckill.support.redis.RedisConfiguration;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ShutdownDelay;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;

/**
 * The HTTP entry point for shoppers and operators: admits purchases through Redis and shows the
 * state of their orders.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableConfigurationProperties({DemoMode.class, InternalToken.class, ShutdownDelay.class})
@Import({RedisConfiguration.class, AuditLog.class})
public class GatewayApplication {

  /** Starts the service; configuration comes from the environment, see docs/configuration.md. */
  public static void main(String[] args) {
    SpringApplication.run(GatewayApplication.class, args);
  }
}
