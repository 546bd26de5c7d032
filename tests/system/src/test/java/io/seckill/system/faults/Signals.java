package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.core.ThrowingRunnable;

/** Waits for observable conditions, never for time to pass. */
public final class Signals {

  private static final Duration LOOK = Duration.ofMillis(100);

  private Signals() {}

  /** As {@link #await}, for an assertion, which can say what is missing. */
  public static void awaitThat(String what, ThrowingRunnable assertion) {
    eventually(what).pollInterval(LOOK).ignoreExceptions().untilAsserted(assertion);
  }

  /** Waits at most two minutes; a check that throws an exception is repeated. */
  public static void await(String what, Callable<Boolean> seen) {
    eventually(what).pollInterval(LOOK).ignoreExceptions().until(seen);
  }
}
