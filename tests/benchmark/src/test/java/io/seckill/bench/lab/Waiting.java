package io.seckill.bench.lab;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.core.ConditionTimeoutException;

/** Waits for the effects of a stage's actions. */
public final class Waiting {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private Waiting() {}

  /**
   * Checks the condition at this interval.
   *
   * @throws org.awaitility.core.ConditionTimeoutException after 3 minutes
   */
  public static void until(String what, Duration interval, Callable<Boolean> condition) {
    until(what, interval, LIMIT, condition);
  }

  /** As {@link #until(String, Duration, Callable)}, with another limit. */
  public static void until(
      String what, Duration interval, Duration limit, Callable<Boolean> condition) {
    await(what).atMost(limit).pollDelay(Duration.ZERO).pollInterval(interval).until(condition);
  }

  /**
   * Waits until the count reaches {@code expected}, at most 3 minutes.
   *
   * @return how many are missing at the end; 0 also when there are more
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

  /** Waits for this time. */
  public static void pass(Duration duration) {
    long end = System.nanoTime() + duration.toNanos();
    await("time to pass")
        .atMost(duration.plus(LIMIT))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> System.nanoTime() >= end);
  }
}
