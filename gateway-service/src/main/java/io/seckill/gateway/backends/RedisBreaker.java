package io.seckill.gateway.backends;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.StateTransition;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.Breakers;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.CallWindow.Counts;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Circuit breaker between this gateway and a Redis that is down or slow: while it is open nothing
 * is sent, so that threads and queues stay free. It opens when, within the last second, failure
 * rate and failure count both reach their thresholds: a few errors at night do not open it, a burst
 * does, and so do calls that are nearly all slow. {@link ErrorReply} says which error replies count
 * as failures.
 *
 * <p>On a cluster there is one breaker for each partition, so that an unavailable node affects only
 * its own partitions. The rate is then of the partition and the count of the gateway, because the
 * partitions of a frozen node are called one after the other, each rarely.
 */
@Component
public final class RedisBreaker {

  private static final Logger log = LoggerFactory.getLogger(RedisBreaker.class);

  /** Until order-consumer says otherwise; it has the same. */
  private static final BreakerThresholds INITIAL = new BreakerThresholds(50, 3);

  /** Of the trial calls. */
  private static final int TRIAL_FAILURE_PERCENT = 50;

  /** Time without calls before the trial calls: short, because shoppers are refused meanwhile. */
  private static final Duration OPEN_FOR = Duration.ofMillis(400);

  private static final int TRIAL_CALLS = 3;

  private final UnifiedJedis redis;
  private final List<PartitionBreaker> breakers;
  private final LongSupplier nanoTime;
  private final Counter linkErrors;
  private final Counter errorReplies;
  private final Counter notPermitted;
  private volatile BreakerThresholds thresholds = INITIAL;
  private Set<Integer> unsold = Set.of();
  private boolean usable = true;
  private long usableSinceNanos;

  /**
   * Redis as this gateway sees it.
   *
   * @param usable false from when no partition that is sold from has a closed breaker until one
   *     has, and, where Redis replied that it cannot decide, a write has succeeded since
   * @param since how long {@code usable} has been so
   * @param state CLOSED when all calls of all partitions are made, OPEN when none is, else
   *     HALF_OPEN: trial calls, or some partitions only
   * @param failurePercent share of the calls of the last second that failed
   * @param failuresPerSecond these calls
   */
  public record Health(
      boolean usable, Duration since, String state, int failurePercent, int failuresPerSecond) {}

  @Autowired
  RedisBreaker(UnifiedJedis redis, RedisSettings settings, MeterRegistry meters) {
    this(redis, RedisClients.areApart(redis), settings.socketTimeout(), meters, System::nanoTime);
  }

  /**
   * A call that takes three fifths of the socket time-out counts as slow: 150 ms of 250 ms. With
   * {@code apart} each partition gets a breaker of its own.
   */
  RedisBreaker(
      UnifiedJedis redis,
      boolean apart,
      Duration socketTimeout,
      MeterRegistry meters,
      LongSupplier nanoTime) {
    this.redis = redis;
    this.nanoTime = nanoTime;
    this.usableSinceNanos = nanoTime.getAsLong();
    this.breakers = breakers(apart, config(socketTimeout.multipliedBy(3).dividedBy(5), nanoTime));
    this.linkErrors = errors(meters, "link");
    this.errorReplies = errors(meters, "reply");
    this.notPermitted = errors(meters, "breaker");
    for (PartitionBreaker partition : breakers) {
      CircuitBreaker breaker = partition.breaker();
      Breakers.bind(breaker, meters);
      breaker
          .getEventPublisher()
          .onStateTransition(
              event -> {
                log(breaker.getName(), event.getStateTransition());
                noteUsable();
              });
    }
  }

  /** The trial calls of an outage, twice a second, are not worth a line. */
  private static void log(String breaker, StateTransition change) {
    if (change.getFromState() == State.CLOSED) {
      log.warn("breaker {} opens", breaker);
    } else if (change.getToState() == State.CLOSED) {
      log.info("breaker {} closes", breaker);
    }
  }

  private List<PartitionBreaker> breakers(boolean apart, CircuitBreakerConfig config) {
    if (!apart) {
      return List.of(breaker("redis", config));
    }
    return Partition.ALL.stream().map(partition -> breaker("redis-" + partition, config)).toList();
  }

  private PartitionBreaker breaker(String name, CircuitBreakerConfig config) {
    return new PartitionBreaker(
        name, config, counts -> thresholds.exceededBy(counts, ofAll()), nanoTime);
  }

  private Counts ofAll() {
    return breakers.stream().map(PartitionBreaker::counts).reduce(Counts.NONE, Counts::plus);
  }

  private PartitionBreaker breaker(int partition) {
    return breakers.get(partition % breakers.size());
  }

  /**
   * Changes from what the breakers open; they stay in the state that they are in.
   *
   * @param failurePercent of the calls within a second, 1..100
   * @param failuresPerSecond number of these calls, 1..100,000
   * @throws IllegalArgumentException when a value is out of range; nothing changes then
   */
  public void thresholds(int failurePercent, int failuresPerSecond) {
    BreakerThresholds changed = new BreakerThresholds(failurePercent, failuresPerSecond);
    if (!changed.equals(thresholds)) {
      log.info("breakers to redis open at {} %, {}/s", failurePercent, failuresPerSecond);
      thresholds = changed;
    }
  }

  public synchronized Health health() {
    noteUsable();
    Counts counts = ofAll();
    return new Health(
        usable,
        Duration.ofNanos(nanoTime.getAsLong() - usableSinceNanos),
        state().name(),
        counts.failurePercent(),
        counts.failed());
  }

  /** From now on these partitions are not sold from, although their servers may answer. */
  public synchronized void notSoldFrom(Set<Integer> partitions) {
    unsold = partitions;
    noteUsable();
  }

  private synchronized void noteUsable() {
    boolean now =
        Partition.ALL.stream()
            .filter(partition -> !unsold.contains(partition))
            .map(this::breaker)
            .anyMatch(one -> usable ? one.state() == State.CLOSED : one.isUsableAgain());
    if (now != usable) {
      usable = now;
      usableSinceNanos = nanoTime.getAsLong();
    }
  }

  private State state() {
    if (isOpenForAll()) {
      return State.OPEN;
    }
    boolean whole = breakers.stream().allMatch(breaker -> breaker.state() == State.CLOSED);
    return whole ? State.CLOSED : State.HALF_OPEN;
  }

  /**
   * Whether a call for the partition would be refused now. After an outage no share of the
   * purchases is held back: the queues and threads of the batchers bound the calls of Redis.
   */
  public boolean isOpen(int partition) {
    return breaker(partition).state() == State.OPEN;
  }

  /** Whether the latest calls for the partition were answered; false also during trial calls. */
  public boolean isClosed(int partition) {
    return breaker(partition).state() == State.CLOSED;
  }

  /** Whether no partition would be called now. */
  public boolean isOpenForAll() {
    return breakers.stream().allMatch(breaker -> breaker.state() == State.OPEN);
  }

  /**
   * Reads from Redis for one partition unless the breaker is open.
   *
   * @throws CallNotPermittedException when it is open: nothing was sent
   * @throws redis.clients.jedis.exceptions.JedisException from Redis or the connection to it
   */
  public <T> T call(int partition, Supplier<T> work) {
    return call(partition, work, false);
  }

  /** The same with a call that writes, and so shows whether Redis can decide purchases. */
  public <T> T write(int partition, Supplier<T> work) {
    return call(partition, work, true);
  }

  /**
   * Writes if Redis has refused a call and no write has succeeded since: while MySQL decides, no
   * purchase is sent that would show that Redis can decide again, and a full Redis renews leases.
   */
  public void tryWrite(int partition) {
    if (breaker(partition).refuses()) {
      try {
        var unused = write(partition, () -> redis.set(RedisKeys.prefix(partition) + "pulse", ""));
      } catch (CallNotPermittedException | JedisException e) {
        // counted; the next renewal of leases tries again
      }
    }
  }

  private <T> T call(int partition, Supplier<T> work, boolean writes) {
    try {
      return breaker(partition).call(work, writes);
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

  /** The minimum is never reached: {@link PartitionBreaker} decides when to open. */
  static CircuitBreakerConfig config(Duration slowCall, LongSupplier nanoTime) {
    return CircuitBreakerConfig.custom()
        .slidingWindow(1, Integer.MAX_VALUE, SlidingWindowType.TIME_BASED)
        .failureRateThreshold(TRIAL_FAILURE_PERCENT)
        .slowCallDurationThreshold(slowCall)
        .slowCallRateThreshold(BreakerThresholds.SLOW_PERCENT)
        .waitDurationInOpenState(OPEN_FOR)
        .permittedNumberOfCallsInHalfOpenState(TRIAL_CALLS)
        .automaticTransitionFromOpenToHalfOpenEnabled(true)
        .ignoreException(ErrorReply::isOfCommand)
        .currentTimestampFunction(clock -> nanoTime.getAsLong(), TimeUnit.NANOSECONDS)
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
