package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.id.SnowflakeIds;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.redis.RedisBreaker;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Order ids of one partition under a worker number leased beside the partition's data, so that ids
 * and data are lost, or out of reach, together. Two gateways never make the same id: each uses only
 * times up to a horizon that Redis holds in writing, and a successor to the number starts above it,
 * whatever their clocks do. Without a lease that is known to hold there are no ids.
 *
 * <p>Thread-safe. Ids never wait; of {@link #renew} and {@link #release} one runs at a time.
 */
final class WorkerLease {

  private static final Logger log = LoggerFactory.getLogger(WorkerLease.class);
  private static final LuaScript SCRIPT = LuaScript.from(WorkerLease.class, "lease.lua");

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final int partition;
  private final Clock clock;
  private final long leaseMs;
  private final String token = UUID.randomUUID().toString();
  private final ReentrantLock changing = new ReentrantLock();
  private volatile @Nullable Held held;
  private boolean released;
  private Failure failure = Failure.NONE;

  /** Latest time used under numbers that were lost: should one come back to us, ids go on above. */
  private long lastTimeMs;

  /** Why no lease was had when one was last asked for. */
  private enum Failure {
    NONE,
    REDIS,
    ALL_LEASED
  }

  /**
   * @param untilNanos System.nanoTime() at which we stop believing in the lease
   * @param horizonMs latest time an id may carry
   */
  private record Held(SnowflakeIds ids, long untilNanos, long horizonMs) {}

  WorkerLease(
      UnifiedJedis redis, RedisBreaker breaker, int partition, Clock clock, Duration lease) {
    this.redis = redis;
    this.breaker = breaker;
    this.partition = partition;
    this.clock = clock;
    this.leaseMs = lease.toMillis();
  }

  /** The next id of the partition, or null without a lease that is known to hold. */
  @Nullable OrderId next() {
    Held now = held;
    if (now == null || System.nanoTime() - now.untilNanos() >= 0) {
      return null;
    }
    OrderId id = now.ids().next(partition);
    return id.timeMs() <= now.horizonMs() ? id : null;
  }

  /** The number held, or -1. */
  int worker() {
    Held now = held;
    return now == null || System.nanoTime() - now.untilNanos() >= 0 ? -1 : now.ids().worker();
  }

  /**
   * Renews the lease, or takes another number when it is lost. When Redis does not answer, the
   * lease just runs out. After {@link #release} it does nothing.
   *
   * @return whether a lease is held that Redis confirmed during this call
   */
  boolean renew() {
    changing.lock();
    try {
      Held now = held;
      return (now != null && renew(now)) || (!released && take());
    } catch (JedisException | CallNotPermittedException e) {
      if (changed(Failure.REDIS)) {
        log.warn(
            "partition {}: worker lease not renewed, trying again: {}", partition, e.toString());
      }
      return false;
    } finally {
      changing.unlock();
    }
  }

  /** Notes what stands in the way; true when that is news, and so worth a line. */
  private boolean changed(Failure now) {
    boolean news = failure != now;
    failure = now;
    return news;
  }

  /** Gives the number back for good, with the exact time up to which it was used. */
  void release() {
    changing.lock();
    try {
      released = true;
      compensation();
    } finally {
      changing.unlock();
    }
  }

  private void compensation() {
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
    held = new Held(now.ids(), until(sentNanos), Long.parseLong(reply.get(2)));
    if (changed(Failure.NONE)) {
      log.info("worker {} renewed", now.ids().worker());
    }
    return true;
  }

  private boolean take() {
    long sentNanos = System.nanoTime();
    int start = ThreadLocalRandom.current().nextInt(1 << OrderId.WORKER_BITS);
    List<String> reply = call("take", Math.max(clock.millis(), lastTimeMs) + 2 * leaseMs, start);
    if (reply.isEmpty()) {
      if (changed(Failure.ALL_LEASED)) {
        log.error(
            "partition {}: all worker numbers are leased: no order ids, no admission; trying again",
            partition);
      }
      return false;
    }
    int worker = Integer.parseInt(reply.get(0));
    long usedUpTo = Math.max(Long.parseLong(reply.get(1)), lastTimeMs);
    SnowflakeIds ids = new SnowflakeIds(worker, usedUpTo, clock);
    held = new Held(ids, until(sentNanos), Long.parseLong(reply.get(2)));
    failure = Failure.NONE;
    log.info("partition {}: worker {} leased", partition, worker);
    return true;
  }

  /** A little earlier than Redis believes, measured from before the request left. */
  private long until(long sentNanos) {
    return sentNanos + Duration.ofMillis(leaseMs - leaseMs / 10).toNanos();
  }

  @SuppressWarnings("unchecked") // lease.lua answers with texts
  private List<String> call(String operation, long horizonMs, int worker) {
    List<String> keys = List.of(RedisKeys.workers(partition));
    List<String> args =
        List.of(
            operation,
            token,
            Long.toString(leaseMs),
            Long.toString(horizonMs),
            Integer.toString(worker));
    return (List<String>) breaker.call(partition, () -> SCRIPT.call(redis, keys, args));
  }
}
