package io.seckill.gateway.backends;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisClients;
import java.time.Duration;
import redis.clients.jedis.UnifiedJedis;

/** Circuit breakers for tests, with the production settings. */
public final class RedisBreakers {

  private RedisBreakers() {}

  public static RedisBreaker of(UnifiedJedis redis, MeterRegistry meters) {
    boolean apart = RedisClients.areApart(redis);
    return new RedisBreaker(redis, apart, Duration.ofMillis(250), meters, System::nanoTime);
  }
}
