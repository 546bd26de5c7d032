package io.seckill.gateway.security;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * One token bucket per key: {@code burst} calls at once, refilled at {@code perSecond}. Memory is
 * bounded: a key is removed once it has been unused long enough for its bucket to be full again.
 * Beyond {@code maxKeys} the least used keys are removed early, which can only give them more
 * tokens. Thread-safe. Bucket4j would replace {@link Bucket} only: keys would still need Caffeine.
 */
final class TokenBuckets {

  private static final double NANOS_PER_SECOND = 1e9;

  private final double perNano;
  private final double burst;
  private final LongSupplier nanoTime;
  private final Cache<Object, Bucket> buckets;

  /**
   * @param perSecond more than 0
   * @param burst from 1
   * @param maxKeys from 1
   */
  TokenBuckets(double perSecond, int burst, int maxKeys, LongSupplier nanoTime) {
    this.perNano = perSecond / NANOS_PER_SECOND;
    this.burst = burst;
    this.nanoTime = nanoTime;
    Duration full = Duration.ofNanos((long) (burst / perNano) + 1);
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
    Bucket bucket = buckets.get(key, k -> new Bucket(burst, now));
    return bucket.take(now, perNano, burst);
  }

  /**
   * Returns a token that was taken; a key that was removed meanwhile starts with a full bucket
   * anyway.
   */
  void returnToken(Object key) {
    Bucket bucket = buckets.getIfPresent(key);
    if (bucket != null) {
      bucket.returnToken(burst);
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
