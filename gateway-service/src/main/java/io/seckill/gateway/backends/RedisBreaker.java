package io.seckill.gateway.backends;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.BreakerMeters;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisSettings;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Circuit breaker between this gateway and a Redis that is down or slow: while it is open nothing
 * is sent, so that threads and queues stay free. An error reply of Redis does not open it, because
 * the reply came quickly. On a cluster there is one breaker for each partition, so that an
 * unavailable node affects only its own partitions.
 */
@Component
public final class RedisBreaker {

  private static final Logger log = LoggerFactory.getLogger(RedisBreaker.class);

  /** Latest calls evaluated; the library's own default of 100 would hide an outage for minutes. */
  private static final int WINDOW = 10;

  private static final int MIN_CALLS = 5;
  private static final int FAILURE_PERCENT = 50;

  /** Higher than for failures: a busy machine makes calls slow, too. */
  private static final int SLOW_PERCENT = 80;

  /** Time without calls before the trial calls: short, because shoppers are refused meanwhile. */
  private static final Duration OPEN_FOR = Duration.ofMillis(400);

  private static final int TRIAL_CALLS = 3;

  private final UnifiedJedis redis;
  private final List<CircuitBreaker> breakers;
  private final Counter linkErrors;
  private final Counter errorReplies;
  private final Counter notPermitted;

  @Autowired
  RedisBreaker(UnifiedJedis redis, RedisSettings settings, MeterRegistry meters) {
    this(redis, settings.socketTimeout(), meters);
  }

  /** A call that takes three fifths of the socket time-out counts as slow: 150 ms of 250 ms. */
  RedisBreaker(UnifiedJedis redis, Duration socketTimeout, MeterRegistry meters) {
    this.redis = redis;
    this.breakers = breakers(redis, config(socketTimeout.multipliedBy(3).dividedBy(5)));
    this.linkErrors = errors(meters, "link");
    this.errorReplies = errors(meters, "reply");
    this.notPermitted = errors(meters, "breaker");
    for (CircuitBreaker breaker : breakers) {
      BreakerMeters.bind(breaker, meters);
      breaker
          .getEventPublisher()
          .onStateTransition(
              event -> log.warn("breaker {}: {}", breaker.getName(), event.getStateTransition()));
    }
  }

  private static List<CircuitBreaker> breakers(UnifiedJedis redis, CircuitBreakerConfig config) {
    if (!areApart(redis)) {
      return List.of(CircuitBreaker.of("redis", config));
    }
    return IntStream.range(0, Partition.COUNT)
        .mapToObj(partition -> CircuitBreaker.of("redis-" + partition, config))
        .toList();
  }

  /** Whether partitions may be on different servers, one of which may be unavailable alone. */
  public static boolean areApart(UnifiedJedis redis) {
    return redis instanceof RedisClusterClient;
  }

  private CircuitBreaker breaker(int partition) {
    return breakers.get(partition % breakers.size());
  }

  /** Whether a call for the partition would be refused now. */
  public boolean isOpen(int partition) {
    return breaker(partition).getState() == State.OPEN;
  }

  /** Whether the latest calls for the partition were answered; false also during trial calls. */
  public boolean isClosed(int partition) {
    return breaker(partition).getState() == State.CLOSED;
  }

  /** Whether no partition would be called now. */
  public boolean isOpenForAll() {
    return breakers.stream().allMatch(breaker -> breaker.getState() == State.OPEN);
  }

  /**
   * Calls Redis for one partition unless the breaker is open.
   *
   * @throws CallNotPermittedException when it is open: nothing was sent
   * @throws redis.clients.jedis.exceptions.JedisException from Redis or the connection to it
   */
  public <T> T call(int partition, Supplier<T> work) {
    try {
      return breaker(partition).executeSupplier(work);
    } catch (CallNotPermittedException e) {
      notPermitted.increment();
      throw e;
    } catch (JedisDataException e) {
      errorReplies.increment();
      throw e;
    } catch (JedisException e) {
      linkErrors.increment();
      dropIdleConnections();
      throw e;
    }
  }

  /**
   * After one connection breaks, the idle connections opened before are assumed to be broken too.
   */
  private void dropIdleConnections() {
    if (redis instanceof RedisClient client) {
      client.getPool().clear();
    }
  }

  private static CircuitBreakerConfig config(Duration slowCall) {
    return CircuitBreakerConfig.custom()
        .slidingWindowSize(WINDOW)
        .minimumNumberOfCalls(MIN_CALLS)
        .failureRateThreshold(FAILURE_PERCENT)
        .slowCallDurationThreshold(slowCall)
        .slowCallRateThreshold(SLOW_PERCENT)
        .waitDurationInOpenState(OPEN_FOR)
        .permittedNumberOfCallsInHalfOpenState(TRIAL_CALLS)
        .automaticTransitionFromOpenToHalfOpenEnabled(true)
        .ignoreExceptions(JedisDataException.class)
        .build();
  }

  private static Counter errors(MeterRegistry meters, String kind) {
    return Counter.builder("seckill.redis.errors")
        .description(
            "Calls of Redis that failed: on the way, by its reply, not made (breaker open)")
        .tag("kind", kind)
        .register(meters);
  }
}
