package io.seckill.bench.lab;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;

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
