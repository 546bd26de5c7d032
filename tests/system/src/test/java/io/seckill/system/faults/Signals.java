package io.seckill.system.faults;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/** Waits for observable conditions, never for time to pass. */
public final class Signals {

  /** Far above the expected time; reached only if the condition never holds. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final Duration LOOK = Duration.ofMillis(100);

  private Signals() {}

  /** As {@link #await}, for an assertion, which can say what is missing. */
  public static void awaitThat(String what, ThrowingRunnable assertion) {
    Awaitility.await(what)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK)
        .ignoreExceptions()
        .untilAsserted(assertion);
  }

  /** Waits at most two minutes; a check that throws an exception is repeated. */
  public static void await(String what, Callable<Boolean> seen) {
    Awaitility.await(what)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK)
        .ignoreExceptions()
        .until(seen);
  }
}
