package io.seckill.consumer.runtime;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.BreakerMeters;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Prevents an unavailable or slow Redis from delaying the storing of orders: after a few failures
 * nothing is sent to Redis for a second. Thread-safe.
 */
@Component
public class RedisCallGuard {

  private static final Logger log = LoggerFactory.getLogger(RedisCallGuard.class);

  private final CircuitBreaker breaker;

  public RedisCallGuard(MeterRegistry meters) {
    this.breaker = CircuitBreaker.of("redis", config());
    BreakerMeters.bind(breaker, meters);
  }

  /**
   * A small window and a short open state: the library's defaults (100 calls, 60 s) would hide an
   * outage. A timer ends the open state; the library's alternative is the wall clock, which an
   * operator may set back.
   */
  static CircuitBreakerConfig config() {
    return CircuitBreakerConfig.custom()
        .slidingWindowType(SlidingWindowType.COUNT_BASED)
        .slidingWindowSize(4)
        .minimumNumberOfCalls(2)
        .failureRateThreshold(50)
        .slowCallDurationThreshold(Duration.ofMillis(400))
        .slowCallRateThreshold(75)
        .waitDurationInOpenState(Duration.ofSeconds(1))
        .automaticTransitionFromOpenToHalfOpenEnabled(true)
        .permittedNumberOfCallsInHalfOpenState(1)
        .recordException(JedisException.class::isInstance)
        .build();
  }

  /**
   * @param work calls Redis
   * @return false when Redis failed or was not called; the work may or may not have been done
   */
  public boolean run(Runnable work) {
    try {
      breaker.executeRunnable(work);
      return true;
    } catch (CallNotPermittedException e) {
      return false;
    } catch (JedisException e) {
      log.warn("A call to Redis failed: {}", e.toString());
      return false;
    }
  }
}
