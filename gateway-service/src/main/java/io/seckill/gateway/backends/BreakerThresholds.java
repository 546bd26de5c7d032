package io.seckill.gateway.backends;

import io.seckill.gateway.backends.CallWindow.Counts;

/**
 * From which share and number of failed calls within a second a breaker opens.
 *
 * @param failurePercent 1..100
 * @param failuresPerSecond 1..100,000
 */
record BreakerThresholds(int failurePercent, int failuresPerSecond) {

  /** Higher than for failures: a busy machine makes calls slow, too. */
  static final int SLOW_PERCENT = 80;

  /** A slow call is still an answer, and one thread alone makes up to six of them in a second. */
  private static final long SLOW_FOR_A_FAILURE = 2;

  BreakerThresholds {
    checkRange("failurePercent", failurePercent, 100);
    checkRange("failuresPerSecond", failuresPerSecond, 100_000);
  }

  private static void checkRange(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(name + " must be 1.." + max + " but is " + value);
    }
  }

  boolean exceededBy(Counts ofPartition, Counts ofAll) {
    boolean fail =
        ofPartition.failurePercent() >= failurePercent && ofAll.failed() >= failuresPerSecond;
    boolean slow =
        ofPartition.slowPercent() >= SLOW_PERCENT
            && ofAll.slow() >= SLOW_FOR_A_FAILURE * failuresPerSecond;
    return fail || slow;
  }
}
