package io.seckill.system.faults;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/** Waiting for something to be seen, never for time to pass. */
final class Signals {

  /** Far above what is expected: only what never comes gets here. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final Duration LOOK = Duration.ofMillis(100);

  private Signals() {}

  /** As {@link #await}, for what can say what is missing. */
  static void awaitThat(String what, ThrowingRunnable assertion) {
    Awaitility.await(what)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK)
        .ignoreExceptions()
        .untilAsserted(assertion);
  }

  /** Waits at most two minutes; who cannot be asked yet is asked again. */
  static void await(String what, Callable<Boolean> seen) {
    Awaitility.await(what)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK)
        .ignoreExceptions()
        .until(seen);
  }
}
