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
  private final int[] calls = new int[SLICES];
  private final int[] failed = new int[SLICES];
  private final int[] slow = new int[SLICES];
  private int present;
  private long presentSinceNanos;

  CallWindow(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.presentSinceNanos = nanoTime.getAsLong();
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
    int at = advance();
    calls[at]++;
    failed[at] += hasFailed ? 1 : 0;
    slow[at] += took.compareTo(slowFrom) >= 0 ? 1 : 0;
  }

  synchronized Counts counts() {
    advance();
    return new Counts(sum(calls), sum(failed), sum(slow));
  }

  synchronized void clear() {
    Arrays.fill(calls, 0);
    Arrays.fill(failed, 0);
    Arrays.fill(slow, 0);
  }

  /** Empties the slices that have become older than a second; returns the index of the present. */
  private int advance() {
    long slices = Math.max(0, (nanoTime.getAsLong() - presentSinceNanos) / SLICE_NANOS);
    presentSinceNanos += slices * SLICE_NANOS;
    for (long s = Math.min(slices, SLICES); s > 0; s--) {
      present = (present + 1) % SLICES;
      calls[present] = 0;
      failed[present] = 0;
      slow[present] = 0;
    }
    return present;
  }

  private static int sum(int[] slices) {
    return Arrays.stream(slices).sum();
  }
}
