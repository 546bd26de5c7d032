package io.seckill.bench.lab;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.core.ConditionTimeoutException;

/** Waits for what a stage set going. */
public final class Waiting {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private Waiting() {}

  /**
   * Looks every few milliseconds.
   *
   * @throws org.awaitility.core.ConditionTimeoutException after 3 minutes
   */
  public static void until(String what, Duration interval, Callable<Boolean> condition) {
    await(what).atMost(LIMIT).pollDelay(Duration.ZERO).pollInterval(interval).until(condition);
  }

  /**
   * Waits until so many are there, at most 3 minutes.
   *
   * @return how many are missing then; 0 also when there are more
   */
  public static long missing(long expected, Callable<Long> count) {
    long[] last = new long[1];
    try {
      await("all of " + expected)
          .atMost(LIMIT)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(10))
          .until(
              () -> {
                last[0] = count.call();
                return last[0] >= expected;
              });
      return 0;
    } catch (ConditionTimeoutException e) {
      return expected - last[0];
    }
  }

  /** Lets time pass. */
  public static void pass(Duration duration) {
    long end = System.nanoTime() + duration.toNanos();
    await("time to pass")
        .atMost(duration.plus(LIMIT))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> System.nanoTime() >= end);
  }
}
