package io.seckill.relay.lane;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Growing waits between attempts, jittered so that lanes do not come in step. Not thread-safe. */
final class Backoff {

  private final long firstMs;
  private final long longestMs;
  private long nextMs;

  Backoff(Duration first, Duration longest) {
    this.firstMs = first.toMillis();
    this.longestMs = longest.toMillis();
    this.nextMs = firstMs;
  }

  /** The wait before the next attempt: half to whole of first, 2 × first, ... longest. */
  Duration next() {
    long wait = nextMs / 2 + ThreadLocalRandom.current().nextLong(nextMs / 2 + 1);
    nextMs = Math.min(nextMs * 2, longestMs);
    return Duration.ofMillis(wait);
  }

  /** The last attempt was good. */
  void reset() {
    nextMs = firstMs;
  }
}
