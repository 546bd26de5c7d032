package io.seckill.gateway.backends;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Counts the calls of the last second, in slices, so that it is a second at every moment. */
final class CallWindow {

  private static final int SLICES = 20;
  private static final long SLICE_NANOS = TimeUnit.SECONDS.toNanos(1) / SLICES;

  private final LongSupplier nanoTime;
  private final Counts[] slices = new Counts[SLICES];
  private int present;
  private long presentSinceNanos;

  CallWindow(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.presentSinceNanos = nanoTime.getAsLong();
    clear();
  }

  /**
   * Calls within a second.
   *
   * @param failed without an answer of Redis
   * @param slow failed or not
   */
  record Counts(int calls, int failed, int slow) {

    static final Counts NONE = new Counts(0, 0, 0);

    Counts plus(Counts other) {
      return new Counts(calls + other.calls, failed + other.failed, slow + other.slow);
    }

    int failurePercent() {
      return calls == 0 ? 0 : (int) (100L * failed / calls);
    }

    int slowPercent() {
      return calls == 0 ? 0 : (int) (100L * slow / calls);
    }
  }

  synchronized void add(boolean hasFailed, Duration took, Duration slowFrom) {
    advance();
    boolean isSlow = took.compareTo(slowFrom) >= 0;
    slices[present] = slices[present].plus(new Counts(1, hasFailed ? 1 : 0, isSlow ? 1 : 0));
  }

  synchronized Counts counts() {
    advance();
    return Arrays.stream(slices).reduce(Counts.NONE, Counts::plus);
  }

  synchronized void clear() {
    Arrays.fill(slices, Counts.NONE);
  }

  /** Empties the slices that have become older than a second. */
  private void advance() {
    long passed = Math.max(0, (nanoTime.getAsLong() - presentSinceNanos) / SLICE_NANOS);
    presentSinceNanos += passed * SLICE_NANOS;
    for (long s = Math.min(passed, SLICES); s > 0; s--) {
      present = (present + 1) % SLICES;
      slices[present] = Counts.NONE;
    }
  }
}
