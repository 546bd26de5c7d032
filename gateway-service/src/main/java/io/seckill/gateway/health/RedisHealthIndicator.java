package io.seckill.gateway.health;

import io.seckill.gateway.stores.BlockingCalls;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;

/** Down while Redis does not answer: then nothing can be admitted, and the gateway is not ready. */
@Component("redisHealthIndicator")
final class RedisHealthIndicator implements ReactiveHealthIndicator {

  private final UnifiedJedis redis;
  private final BlockingCalls calls;

  RedisHealthIndicator(UnifiedJedis redis, @Qualifier("redisCalls") BlockingCalls calls) {
    this.redis = redis;
    this.calls = calls;
  }

  @Override
  public Mono<Health> health() {
    return calls
        .call(redis::ping)
        .map(pong -> Health.up().build())
        .onErrorReturn(Health.down().build());
  }
}
