package io.seckill.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits for conditions that must become true. */
public final class Eventually {

  /** Allows for a loaded machine: reached only by what never happens. */
  public static final Duration SOON = Duration.ofMinutes(2);

  private Eventually() {}

  /** Waits at most {@link #SOON}. */
  public static ConditionFactory eventually() {
    return Awaitility.await().atMost(SOON);
  }

  /** As {@link #eventually()}, and names what is missing when it fails. */
  public static ConditionFactory eventually(String what) {
    return Awaitility.await(what).atMost(SOON);
  }
}
