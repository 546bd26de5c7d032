package io.seckill.gateway.security;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.OrderId;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * One token bucket per key: {@code burst} calls at once, refilled at {@code perSecond}, both
 * divided by the number of running gateways, but at least one call at once. A bucket follows a
 * change of that number when it is next used. Memory is bounded: a key is removed once it has been
 * unused long enough for its bucket to be full again, however many gateways run. Beyond {@code
 * maxKeys} the least used keys are removed early, which can only give them more tokens.
 * Thread-safe. Bucket4j would replace {@link Bucket} only: keys would still need Caffeine.
 */
final class TokenBuckets {

  private static final double NANOS_PER_SECOND = 1e9;

  /** Each running gateway has a worker number. */
  private static final int MAX_GATEWAYS = 1 << OrderId.WORKER_BITS;

  private final double perNano;
  private final double burst;
  private final RunningGateways gateways;
  private final LongSupplier nanoTime;
  private final Cache<Object, Bucket> buckets;

  /**
   * @param perSecond more than 0
   * @param burst from 1
   * @param maxKeys from 1
   */
  TokenBuckets(
      double perSecond, int burst, int maxKeys, RunningGateways gateways, LongSupplier nanoTime) {
    this.perNano = perSecond / NANOS_PER_SECOND;
    this.burst = burst;
    this.gateways = gateways;
    this.nanoTime = nanoTime;
    Duration full = Duration.ofNanos((long) (Math.max(burst, MAX_GATEWAYS) / perNano) + 1);
    this.buckets =
        Caffeine.newBuilder()
            .maximumSize(maxKeys)
            .expireAfterAccess(full)
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run) // a pool would be woken for each new shopper
            .build();
  }

  /** Takes one token if there is one. */
  boolean take(Object key) {
    long now = nanoTime.getAsLong();
    int sharedBy = gateways.count();
    double atOnce = atOnce(sharedBy);
    Bucket bucket = buckets.get(key, k -> new Bucket(atOnce, now));
    return bucket.take(now, perNano / sharedBy, atOnce);
  }

  private double atOnce(int sharedBy) {
    return Math.max(1, burst / sharedBy);
  }

  /**
   * Returns a token that was taken; a key that was removed meanwhile starts with a full bucket
   * anyway.
   */
  void returnToken(Object key) {
    Bucket bucket = buckets.getIfPresent(key);
    if (bucket != null) {
      bucket.returnToken(atOnce(gateways.count()));
    }
  }

  /** Number of keys in memory now. */
  long size() {
    buckets.cleanUp();
    return buckets.estimatedSize();
  }

  private static final class Bucket {
    private double tokens;
    private long filledNanos;

    Bucket(double tokens, long now) {
      this.tokens = tokens;
      this.filledNanos = now;
    }

    synchronized boolean take(long now, double perNano, double burst) {
      long elapsed = Math.max(0, now - filledNanos);
      tokens = Math.min(burst, tokens + elapsed * perNano);
      filledNanos += elapsed;
      if (tokens < 1) {
        return false;
      }
      tokens--;
      return true;
    }

    synchronized void returnToken(double burst) {
      tokens = Math.min(burst, tokens + 1);
    }
  }
}
