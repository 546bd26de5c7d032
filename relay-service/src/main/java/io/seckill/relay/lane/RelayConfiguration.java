package io.seckill.relay.lane;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.BreakerMeters;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.BrokerSettings;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.support.redis.RedisSettingsConfiguration;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Configuration(proxyBeanMethods = false)
@Import(RedisSettingsConfiguration.class)
class RelayConfiguration {

  @Bean
  RelayMeters relayMeters(MeterRegistry registry) {
    return new RelayMeters(registry);
  }

  @Bean
  CircuitBreaker brokerBreaker(MeterRegistry registry) {
    CircuitBreaker breaker = CircuitBreaker.of("broker", breakerConfig());
    BreakerMeters.bind(breaker, registry);
    return breaker;
  }

  /**
   * A small window and short waits: the library's defaults (100 calls, 60 s) would hide an outage.
   * A timer ends the open state; without it the library compares the time of day, which an operator
   * may set back.
   */
  static CircuitBreakerConfig breakerConfig() {
    return CircuitBreakerConfig.custom()
        .slidingWindowType(SlidingWindowType.COUNT_BASED)
        .slidingWindowSize(16)
        .minimumNumberOfCalls(4)
        .failureRateThreshold(50)
        .waitDurationInOpenState(Duration.ofSeconds(2))
        .automaticTransitionFromOpenToHalfOpenEnabled(true)
        .permittedNumberOfCallsInHalfOpenState(2)
        .maxWaitDurationInHalfOpenState(Duration.ofSeconds(10))
        .build();
  }

  @Bean
  BrokerConnector brokerConnector(
      BrokerSettings broker, RelaySettings relay, CircuitBreaker breaker, RelayMeters meters) {
    return new BrokerConnector(
        broker, relay.maxUnconfirmed(), relay.confirmTimeout(), breaker, meters);
  }

  @Bean
  RelayLanes relayLanes(
      RelaySettings relay, RedisSettings redis, BrokerConnector broker, RelayMeters meters) {
    return new RelayLanes(relay, LeaseSettings.DEFAULT, redis, broker, meters);
  }
}
