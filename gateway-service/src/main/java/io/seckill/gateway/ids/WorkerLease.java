package io.seckill.gateway.ids;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.SnowflakeIds;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Makes the order ids of one partition with a leased worker number. The lease is stored with the
 * partition's data, so that both are lost, or unreachable, together. Two gateways never make the
 * same id: each uses only times up to a horizon that is stored in Redis, and the next owner of the
 * number starts above that horizon, even when their clocks differ. Without a lease that is known to
 * be valid no ids are made. The horizon is at most a day ahead of Redis's clock: a gateway whose
 * clock is further ahead makes no ids, because the number would stay used up until that time.
 *
 * <p>Thread-safe. Making an id never waits; only one call of {@link #renew} or {@link #release}
 * runs at a time.
 */
final class WorkerLease {

  private static final Logger log = LoggerFactory.getLogger(WorkerLease.class);
  private static final LuaScript SCRIPT = LuaScript.from(WorkerLease.class, "lease.lua");

  /** The partition that counts gateways: one is enough, as this reads all worker numbers. */
  static final int COUNTING = 0;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final int partition;
  private final Clock clock;
  private final long leaseMs;
  private final String token = UUID.randomUUID().toString();
  private volatile @Nullable Held held;
  private boolean released;
  private Failure failure = Failure.NONE;

  /**
   * Latest time used with numbers that were lost. If such a number is leased again, its ids start
   * above this time.
   */
  private long lastTimeMs;

  /** Why the last attempt to get a lease failed, or why the lease that is held makes no ids. */
  private enum Failure {
    NONE,
    REDIS,
    ALL_LEASED,
    CLOCK
  }

  /**
   * @param untilNanos System.nanoTime() from which the lease is considered expired
   * @param horizonMs latest time an id may carry
   */
  private record Held(SnowflakeIds ids, long untilNanos, long horizonMs, int gateways) {}

  WorkerLease(
      UnifiedJedis redis, RedisBreaker breaker, int partition, Clock clock, Duration lease) {
    this.redis = redis;
    this.breaker = breaker;
    this.partition = partition;
    this.clock = clock;
    this.leaseMs = lease.toMillis();
  }

  /** Returns the next id of the partition, or null without a lease that is known to be valid. */
  @Nullable OrderId next() {
    Held now = valid();
    return now == null ? null : now.ids().next(partition, now.horizonMs());
  }

  /** The leased worker number, or -1 without a lease that is known to be valid. */
  int worker() {
    Held now = valid();
    return now == null ? -1 : now.ids().worker();
  }

  /**
   * Gateways with a lease of this partition, this one included, when Redis last confirmed it; 0
   * without a lease that is known to be valid, and in every partition but {@link #COUNTING}.
   */
  int gateways() {
    Held now = valid();
    return now == null ? 0 : now.gateways();
  }

  private @Nullable Held valid() {
    Held now = held;
    return now == null || System.nanoTime() - now.untilNanos() >= 0 ? null : now;
  }

  /**
   * Renews the lease, or takes another number when the lease is lost. If Redis does not answer, the
   * lease is left to expire. Does nothing after {@link #release}.
   *
   * @return whether a lease is held that Redis confirmed during this call
   */
  synchronized boolean renew() {
    try {
      Held now = held;
      return (now != null && renew(now)) || (!released && take());
    } catch (JedisException | CallNotPermittedException e) {
      if (changed(Failure.REDIS)) {
        log.warn(
            "partition {}: worker lease not renewed, trying again: {}", partition, e.toString());
      }
      return false;
    }
  }

  /** See {@link RedisBreaker#tryWrite}. */
  void tryWrite() {
    breaker.tryWrite(partition);
  }

  /**
   * Records the current failure; returns true if it differs from the previous one and should be
   * logged.
   */
  private boolean changed(Failure now) {
    boolean news = failure != now;
    failure = now;
    return news;
  }

  /** Returns the number permanently, with the exact time up to which it was used. */
  synchronized void release() {
    released = true;
    endLease();
  }

  private void endLease() {
    Held now = held;
    held = null;
    if (now != null) {
      try {
        call("release", now.ids().lastTimeMs(), now.ids().worker());
      } catch (JedisException | CallNotPermittedException e) {
        log.info(
            "partition {}: worker {} not released, its lease will run out: {}",
            partition,
            now.ids().worker(),
            e.toString());
      }
    }
  }

  private boolean renew(Held now) {
    long sentNanos = System.nanoTime();
    long latest = Math.max(now.ids().lastTimeMs(), clock.millis());
    List<String> reply = call("renew", latest + 2 * leaseMs, now.ids().worker());
    if (reply.isEmpty()) {
      held = null;
      lastTimeMs = now.ids().lastTimeMs();
      log.warn(
          "partition {}: worker {} was lost, taking another number", partition, now.ids().worker());
      return false;
    }
    Held renewed = confirmed(now.ids(), sentNanos, reply);
    held = renewed;
    if (isInTime(renewed) && changed(Failure.NONE)) {
      log.info("worker {} renewed", now.ids().worker());
    }
    return true;
  }

  private boolean take() {
    long sentNanos = System.nanoTime();
    int start = ThreadLocalRandom.current().nextInt(OrderId.MYSQL_WORKER);
    List<String> reply = call("take", Math.max(clock.millis(), lastTimeMs) + 2 * leaseMs, start);
    if (reply.isEmpty()) {
      if (changed(Failure.ALL_LEASED)) {
        log.error(
            "partition {}: all worker numbers are leased, or used for more than a day to come by"
                + " Redis's clock: no order ids, no admission; trying again",
            partition);
      }
      return false;
    }
    int worker = Integer.parseInt(reply.get(0));
    long usedUpTo = Math.max(Long.parseLong(reply.get(1)), lastTimeMs);
    Held taken = confirmed(new SnowflakeIds(worker, usedUpTo, clock), sentNanos, reply);
    held = taken;
    log.info("partition {}: worker {} leased", partition, worker);
    if (isInTime(taken)) {
      failure = Failure.NONE;
    }
    return true;
  }

  /** Whether the clock is within the horizon; logs once that it is not. */
  private boolean isInTime(Held now) {
    boolean isInTime = clock.millis() <= now.horizonMs();
    if (!isInTime && changed(Failure.CLOCK)) {
      log.error(
          "partition {}: this gateway's clock is more than a day ahead of Redis's: no order ids, no"
              + " admission",
          partition);
    }
    return isInTime;
  }

  /**
   * The lease expires locally a little earlier than in Redis, counted from before the request was
   * sent.
   */
  private Held confirmed(SnowflakeIds ids, long sentNanos, List<String> reply) {
    long untilNanos = sentNanos + Duration.ofMillis(leaseMs - leaseMs / 10).toNanos();
    return new Held(ids, untilNanos, Long.parseLong(reply.get(2)), Integer.parseInt(reply.get(3)));
  }

  @SuppressWarnings("unchecked") // lease.lua replies with strings
  private List<String> call(String operation, long horizonMs, int worker) {
    List<String> keys = List.of(RedisKeys.workers(partition));
    List<String> args =
        List.of(
            operation,
            token,
            Long.toString(leaseMs),
            Long.toString(horizonMs),
            Integer.toString(worker),
            partition == COUNTING ? "1" : "0");
    return (List<String>) breaker.call(partition, () -> SCRIPT.call(redis, keys, args));
  }
}
