package io.seckill.gateway.ops;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.ServerSettings;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Down while Redis does not answer: no purchase can be admitted, and the gateway is not ready.
 * DEGRADED, but ready, while Redis may lose orders: no sale can begin, running sales continue.
 * DEGRADED also while some nodes of a cluster do not answer: the partitions on the other nodes are
 * still sold.
 */
@Component("redisHealthIndicator")
final class RedisHealthIndicator implements ReactiveHealthIndicator {

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final ServerSettings settings;
  private final BlockingCalls calls;

  RedisHealthIndicator(
      UnifiedJedis redis,
      RedisBreaker breaker,
      ServerSettings settings,
      @Qualifier("operatorRedisCalls") BlockingCalls calls) {
    this.redis = redis;
    this.breaker = breaker;
    this.settings = settings;
    this.calls = calls;
  }

  @Override
  public Mono<Health> health() {
    return calls.call(this::ask).onErrorReturn(Health.down().build());
  }

  private Health ask() {
    boolean all = true;
    if (RedisBreaker.areApart(redis)) {
      all = allOrAnyPartition();
    } else {
      redis.ping();
    }
    return all && settings.dangers().isEmpty()
        ? Health.up().build()
        : ConsumerHealthIndicator.degraded();
  }

  /**
   * A cluster PING is sent to every node and fails when any node fails; here one answering node is
   * enough. Starts at a random partition, so that an unavailable node is not always queried first.
   *
   * @return whether no partition is known to be unavailable
   * @throws JedisException when no partition answers
   */
  private boolean allOrAnyPartition() {
    boolean all = true;
    boolean any = false;
    int first = ThreadLocalRandom.current().nextInt(Partition.COUNT);
    for (int i = 0; i < Partition.COUNT; i++) {
      int partition = (first + i) % Partition.COUNT;
      all &= !breaker.isOpen(partition);
      any = any || answers(partition);
    }
    if (!any) {
      throw new JedisException("no node of the cluster answers");
    }
    return all;
  }

  private boolean answers(int partition) {
    try {
      breaker.call(partition, () -> redis.exists(RedisKeys.outbox(partition)));
      return true;
    } catch (JedisException | CallNotPermittedException e) {
      return false;
    }
  }
}
