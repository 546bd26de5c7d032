package io.seckill.gateway.backends;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import redis.clients.jedis.UnifiedJedis;

/** Circuit breakers for tests, with the production settings. */
public final class RedisBreakers {

  private RedisBreakers() {}

  public static RedisBreaker of(UnifiedJedis redis, MeterRegistry meters) {
    return new RedisBreaker(
        redis,
        new BreakerProperties(10, 5, 50, Duration.ofMillis(150), 80, Duration.ofMillis(400), 3),
        meters);
  }
}
