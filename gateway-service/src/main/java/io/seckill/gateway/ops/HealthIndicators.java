package io.seckill.gateway.ops;

import io.seckill.gateway.ops.HealthReport.Component;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/**
 * The backends as probes see them; the bean names are the names of the components. Boot's own
 * indicator of MySQL is off: it waits as long as the driver does.
 */
@Configuration(proxyBeanMethods = false)
class HealthIndicators {

  @Bean
  ReactiveHealthIndicator redisHealthIndicator(BackendHealth backends) {
    return indicator(backends::redis);
  }

  @Bean
  ReactiveHealthIndicator mysqlHealthIndicator(BackendHealth backends) {
    return indicator(backends::mysql);
  }

  @Bean
  ReactiveHealthIndicator consumerHealthIndicator(BackendHealth backends) {
    return indicator(backends::consumer);
  }

  private static ReactiveHealthIndicator indicator(Supplier<Mono<Component>> check) {
    return () -> check.get().map(found -> Health.status(found.status().name()).build());
  }
}
