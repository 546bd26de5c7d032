package io.seckill.gateway.health;

import io.seckill.gateway.redis.ServerSettings;
import io.seckill.gateway.stores.BlockingCalls;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;

/**
 * Down while Redis does not answer: then nothing can be admitted, and the gateway is not ready.
 * DEGRADED, and ready all the same, while Redis may forget orders: no sale begins, those under way
 * go on.
 */
@Component("redisHealthIndicator")
final class RedisHealthIndicator implements ReactiveHealthIndicator {

  private final UnifiedJedis redis;
  private final ServerSettings settings;
  private final BlockingCalls calls;

  RedisHealthIndicator(
      UnifiedJedis redis, ServerSettings settings, @Qualifier("redisCalls") BlockingCalls calls) {
    this.redis = redis;
    this.settings = settings;
    this.calls = calls;
  }

  @Override
  public Mono<Health> health() {
    return calls.call(redis::ping).map(pong -> answering()).onErrorReturn(Health.down().build());
  }

  private Health answering() {
    return settings.dangers().isEmpty() ? Health.up().build() : ConsumerHealthIndicator.degraded();
  }
}
