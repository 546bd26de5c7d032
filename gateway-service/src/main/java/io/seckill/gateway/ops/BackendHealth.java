package io.seckill.gateway.ops;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisNodeWatch;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.ops.HealthReport.Component;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Checks the servers and services that the gateway calls. No check fails, and each has a bound.
 * Callers need no token: those within half a second share one check.
 */
@Service
final class BackendHealth {

  /** Shorter than the second between two probes: each makes a new check. */
  static final Duration SHARED_FOR = Duration.ofMillis(500);

  private final UnifiedJedis jedis;
  private final RedisBreaker breaker;
  private final RedisNodeWatch redisNodes;
  private final ProductCache products;
  private final Mono<Component> redis;
  private final Mono<Component> mysql;
  private final Mono<Component> consumer;

  BackendHealth(
      UnifiedJedis jedis,
      RedisBreaker breaker,
      RedisNodeWatch redisNodes,
      @Qualifier("operatorRedisCalls") BlockingCalls redisCalls,
      JdbcClient jdbc,
      @Qualifier("operatorMysqlCalls") BlockingCalls mysqlCalls,
      ConsumerClient orderConsumer,
      ProductCache products) {
    this.jedis = jedis;
    this.breaker = breaker;
    this.redisNodes = redisNodes;
    this.products = products;
    this.redis = redisCalls.call(this::askRedis).cache(SHARED_FOR);
    this.mysql =
        mysqlCalls
            .call(() -> jdbc.sql("SELECT 1").query(Integer.class).single())
            .map(one -> Component.UP)
            .onErrorReturn(Component.degraded("MySQL does not answer."))
            .cache(SHARED_FOR);
    this.consumer =
        orderConsumer
            .isReady()
            .map(
                ready ->
                    ready
                        ? Component.UP
                        : Component.degraded("order-consumer is unavailable or not ready."))
            .cache(SHARED_FOR);
  }

  /**
   * DOWN while Redis does not answer: no purchase can be admitted, except of strong sales. DEGRADED
   * in a fallback, in which MySQL decides the others, too. DEGRADED while it may lose orders: no
   * sale can begin, running sales continue. DEGRADED also while some nodes of a cluster do not
   * answer: the partitions on the other nodes are still sold.
   */
  Mono<Component> redis() {
    return redis.onErrorResume(
        failure ->
            Mono.just(
                products.isInFallback()
                    ? Component.degraded("Redis does not answer; MySQL decides its sales.")
                    : Component.down("Redis does not answer.")));
  }

  /**
   * DEGRADED while MySQL does not answer: purchases continue, except of strong sales, and old
   * orders cannot be shown.
   */
  Mono<Component> mysql() {
    return mysql;
  }

  /**
   * DEGRADED while order-consumer is not ready: purchases are still admitted, except of strong
   * sales, and orders still shown.
   */
  Mono<Component> consumer() {
    return consumer;
  }

  private Component askRedis() {
    List<Integer> unavailable = List.of();
    if (RedisClients.areApart(jedis)) {
      unavailable = askAnyPartition();
    } else {
      jedis.ping();
    }
    List<String> dangers = redisNodes.dangers();
    if (!dangers.isEmpty()) {
      return Component.degraded("Redis may forget orders: " + String.join("; ", dangers) + ".");
    }
    return unavailable.isEmpty()
        ? Component.UP
        : Component.degraded("Redis does not answer for partitions " + unavailable + ".");
  }

  /**
   * A cluster PING is sent to every node and fails when any node fails; here one answering node is
   * enough. Starts at a random partition, so that an unavailable node is not always queried first.
   *
   * @return partitions that are known to be unavailable
   * @throws JedisException when no partition answers
   */
  private List<Integer> askAnyPartition() {
    List<Integer> partitions = new ArrayList<>(Partition.ALL);
    Collections.shuffle(partitions);
    if (partitions.stream().noneMatch(this::answers)) {
      throw new JedisException("no node of the cluster answers");
    }
    return partitions.stream().filter(p -> !breaker.isClosed(p)).sorted().toList();
  }

  private boolean answers(int partition) {
    try {
      breaker.call(partition, () -> jedis.llen(RedisKeys.outbox(partition)));
      return true;
    } catch (JedisException | CallNotPermittedException e) {
      return false;
    }
  }
}
