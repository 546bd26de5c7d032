package io.seckill.consumer.runtime;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** The one place where a thread of this service waits without being signalled. */
public final class Sleeps {

  private Sleeps() {}

  /** Returns after this time, or at once when the thread is interrupted, as a stop does. */
  public static void nanos(long nanos) {
    LockSupport.parkNanos(nanos);
  }

  /**
   * Returns a pause: {@code firstMs} doubled this often, at most {@code longestMs}. Half of it is
   * random, so that two that have collided do not collide again.
   */
  public static long jitteredMs(long firstMs, long longestMs, int doublings) {
    long fullMs = Math.min(longestMs, firstMs << Math.min(doublings, 10));
    return ThreadLocalRandom.current().nextLong(fullMs / 2, fullMs + 1);
  }
}
