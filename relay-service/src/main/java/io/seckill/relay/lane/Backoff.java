package io.seckill.relay.lane;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Growing waits between attempts, jittered so that lanes do not all retry at the same time. Not
 * thread-safe.
 */
final class Backoff {

  private final long firstMs;
  private final long longestMs;
  private long nextMs;

  Backoff(Duration first, Duration longest) {
    this.firstMs = first.toMillis();
    this.longestMs = longest.toMillis();
    this.nextMs = firstMs;
  }

  /** Returns the next wait: random between half and whole of first, 2 × first, ... longest. */
  Duration next() {
    long wait = nextMs / 2 + ThreadLocalRandom.current().nextLong(nextMs / 2 + 1);
    nextMs = Math.min(nextMs * 2, longestMs);
    return Duration.ofMillis(wait);
  }

  /** Starts again with the first wait, after a successful attempt. */
  void reset() {
    nextMs = firstMs;
  }
}
