package io.seckill.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.pollinterval.PollInterval;

/** Waits for conditions that must become true. */
public final class Eventually {

  /** Allows for a loaded machine: reached only by what never happens. */
  public static final Duration SOON = Duration.ofMinutes(2);

  /** Most conditions hold at once or within some milliseconds. */
  private static final PollInterval LOOKS =
      (looks, last) -> Duration.ofMillis(Math.min(10L * looks, 100));

  private Eventually() {}

  /** Looks at once, then less and less often; waits at most {@link #SOON}. */
  public static ConditionFactory eventually() {
    return lookingSoon(Awaitility.await());
  }

  /** As {@link #eventually()}, and names what is missing when it fails. */
  public static ConditionFactory eventually(String what) {
    return lookingSoon(Awaitility.await(what));
  }

  /** Not ended by other threads: Jedis 8.0 throws in one of its own when a cluster's node dies. */
  private static ConditionFactory lookingSoon(ConditionFactory wait) {
    return wait.dontCatchUncaughtExceptions()
        .atMost(SOON)
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOKS);
  }
}
