package io.seckill.testing.mutation;

import java.time.Duration;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;

/**
 * How long a test waits while it is proven: what has not come in this time does not come. Without a
 * mutation the same test must be content with it.
 */
public final class Patience {

  private static final Duration LIMIT = Duration.ofSeconds(10);

  private Patience() {}

  /** Called in place of {@link ConditionFactory#atMost(Duration)}. */
  public static ConditionFactory atMost(ConditionFactory factory, Duration limit) {
    return factory.atMost(limit.compareTo(LIMIT) < 0 ? limit : LIMIT);
  }

  /** This class for calls it takes over, else null. */
  static @Nullable Class<?> of(String owner, String called, String descriptor) {
    boolean waits =
        owner.equals("org/awaitility/core/ConditionFactory")
            && called.equals("atMost")
            && descriptor.startsWith("(Ljava/time/Duration;)");
    return waits ? Patience.class : null;
  }
}
