package io.seckill.gateway.backends;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import redis.clients.jedis.UnifiedJedis;

/** Circuit breakers for tests, with the production settings. */
public final class RedisBreakers {

  private RedisBreakers() {}

  public static RedisBreaker of(UnifiedJedis redis, MeterRegistry meters) {
    return new RedisBreaker(redis, Duration.ofMillis(250), meters);
  }
}
