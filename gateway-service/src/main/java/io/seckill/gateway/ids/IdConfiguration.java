package io.seckill.gateway.ids;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.backends.RedisBreaker;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import redis.clients.jedis.UnifiedJedis;

/** Creates the leases of worker numbers. */
@Configuration(proxyBeanMethods = false)
class IdConfiguration {

  /** Closed after all beans that take ids or renew. */
  @Bean
  WorkerLeases workerLeases(UnifiedJedis redis, RedisBreaker breaker, MeterRegistry meters) {
    WorkerLeases leases = new WorkerLeases(redis, breaker, WorkerLeases.DURATION);
    Gauge.builder("seckill.gateways", leases, WorkerLeases::count)
        .description("Running gateways as this one counts them; it grants its share of the limits")
        .register(meters);
    return leases;
  }
}
