package io.seckill.gateway.backends;

import static java.util.Comparator.naturalOrder;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.AdaptiveBreaker.Thresholds;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

  private final UnifiedJedis redis;
  private final List<AdaptiveBreaker> breakers;
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
    this.breakers = breakers(redis, socketTimeout.multipliedBy(3).dividedBy(5), meters);
    this.linkErrors = errors(meters, "link");
    this.errorReplies = errors(meters, "reply");
    this.notPermitted = errors(meters, "breaker");
  }

  private static List<AdaptiveBreaker> breakers(
      UnifiedJedis redis, Duration slowCall, MeterRegistry meters) {
    if (!areApart(redis)) {
      return List.of(breaker("redis", slowCall, meters));
    }
    return IntStream.range(0, Partition.COUNT)
        .mapToObj(p -> breaker("redis-" + p, slowCall, meters))
        .toList();
  }

  private static AdaptiveBreaker breaker(String name, Duration slowCall, MeterRegistry meters) {
    return new AdaptiveBreaker(name, slowCall, meters, Clock.systemUTC(), System::nanoTime);
  }

  /** Whether partitions may be on different servers, one of which may be unavailable alone. */
  public static boolean areApart(UnifiedJedis redis) {
    return redis instanceof RedisClusterClient;
  }

  private AdaptiveBreaker breaker(int partition) {
    return breakers.get(partition % breakers.size());
  }

  /**
   * Whether a purchase of the partition may be sent now: not while its breaker is open, and for a
   * second after that only a share of them, which grows.
   */
  public boolean letsThrough(int partition) {
    return breaker(partition).letsThrough();
  }

  /** Whether a call for the partition would be refused now. */
  public boolean isOpen(int partition) {
    return breaker(partition).isOpen();
  }

  /** Whether the latest calls for the partition were answered; false also during trial calls. */
  public boolean isClosed(int partition) {
    return breaker(partition).isClosed();
  }

  /** Whether no partition would be called now. */
  public boolean isOpenForAll() {
    return breakers.stream().allMatch(AdaptiveBreaker::isOpen);
  }

  /**
   * What this gateway finds of Redis.
   *
   * @param usable whether a breaker is closed, so that some partition is called
   * @param since how long that has been so
   * @param state of the breaker that is best off: CLOSED, HALF_OPEN or OPEN
   * @param failurePercent share of the calls that failed within the last second, in percent
   * @param failuresPerSecond number of calls that failed within the last second
   */
  public record Health(
      boolean usable, Duration since, String state, int failurePercent, int failuresPerSecond) {}

  /** Evaluates all breakers. */
  public Health health() {
    List<AdaptiveBreaker> closed = breakers.stream().filter(AdaptiveBreaker::isClosed).toList();
    boolean usable = !closed.isEmpty();
    Stream<Duration> since = (usable ? closed : breakers).stream().map(AdaptiveBreaker::since);
    return new Health(
        usable,
        (usable ? since.max(naturalOrder()) : since.min(naturalOrder())).orElseThrow(),
        Stream.of(State.CLOSED, State.HALF_OPEN)
            .filter(state -> breakers.stream().anyMatch(breaker -> breaker.state() == state))
            .findFirst()
            .orElse(State.OPEN)
            .name(),
        breakers.stream().mapToInt(AdaptiveBreaker::failurePercent).max().orElseThrow(),
        breakers.stream().mapToInt(AdaptiveBreaker::failures).sum());
  }

  /**
   * Changes when the breakers open, see {@link AdaptiveBreaker.Thresholds}; does nothing if these
   * are in force.
   *
   * @throws IllegalArgumentException when a threshold is out of bounds
   */
  public void thresholds(int failurePercent, int failuresPerSecond) {
    Thresholds wanted = new Thresholds(failurePercent, failuresPerSecond);
    breakers.forEach(breaker -> breaker.opensAt(wanted));
  }

  /**
   * Calls Redis for one partition unless the breaker is open.
   *
   * @throws CallNotPermittedException when it is open: nothing was sent
   * @throws redis.clients.jedis.exceptions.JedisException from Redis or the connection to it
   */
  public <T> T call(int partition, Supplier<T> work) {
    try {
      return breaker(partition).call(work);
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

  private static Counter errors(MeterRegistry meters, String kind) {
    return Counter.builder("seckill.redis.errors")
        .description(
            "Calls of Redis that failed: on the way, by its reply, not made (breaker open)")
        .tag("kind", kind)
        .register(meters);
  }
}
