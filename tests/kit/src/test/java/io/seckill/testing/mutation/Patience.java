package io.seckill.testing.mutation;

import io.seckill.testing.Eventually;
import java.time.Duration;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;

/**
 * Limits the waits of a test that runs under a mutation: an event that does not occur within the
 * limit counts as one that never occurs. Without a mutation the same test must pass with this
 * limit.
 */
public final class Patience {

  private static final Duration LIMIT = Duration.ofSeconds(10);

  private Patience() {}

  /**
   * Called in place of {@link ConditionFactory#atMost(Duration)}. No look is interrupted at the
   * limit: its complaint would be the interruption, not what the looks before it have found.
   */
  public static ConditionFactory atMost(ConditionFactory factory, Duration limit) {
    return factory.pollInSameThread().atMost(limit.compareTo(LIMIT) < 0 ? limit : LIMIT);
  }

  /** Called in place of {@link Eventually#eventually()}. */
  public static ConditionFactory eventually() {
    return atMost(Eventually.eventually(), LIMIT);
  }

  /** Called in place of {@link Eventually#eventually(String)}. */
  public static ConditionFactory eventually(String what) {
    return atMost(Eventually.eventually(what), LIMIT);
  }

  /** Returns this class for calls that it replaces, else null. */
  static @Nullable Class<?> of(String owner, String called, String descriptor) {
    boolean waits =
        owner.equals("org/awaitility/core/ConditionFactory")
            && called.equals("atMost")
            && descriptor.startsWith("(Ljava/time/Duration;)");
    boolean waitsEventually =
        owner.equals("io/seckill/testing/Eventually") && called.equals("eventually");
    return waits || waitsEventually ? Patience.class : null;
  }
}
