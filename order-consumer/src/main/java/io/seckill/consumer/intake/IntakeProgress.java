package io.seckill.consumer.intake;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Whether the threads of one queue's intake make progress, as they say themselves. Waiting for the
 * broker or for MySQL is progress: both have alerts of their own. Thread-safe.
 */
final class IntakeProgress {

  /** Twice as long as MySQL may take to refuse a batch for good, the longest step of a writer. */
  private static final Duration STUCK_AFTER = Duration.ofSeconds(60);

  /** One defect is behind us when it does not come again soon: a session fails within a second. */
  private static final Duration IN_A_ROW = Duration.ofSeconds(30);

  private static final int TOO_MANY = 3;

  private final LongSupplier nanoTime;
  private volatile long movedNanos;
  private long failedNanos;
  private int failures;
  private String lastFailure = "";

  /**
   * @param nanoTime as System.nanoTime
   */
  IntakeProgress(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.movedNanos = nanoTime.getAsLong();
  }

  /** The writer is about to take its next step. */
  void moved() {
    movedNanos = nanoTime.getAsLong();
  }

  /** A defect has ended a session. */
  synchronized void failed(Throwable defect) {
    long now = nanoTime.getAsLong();
    failures = isOver(now) ? 1 : failures + 1;
    failedNanos = now;
    lastFailure = defect.toString();
  }

  /** Why the queue is not read, though nothing it needs is away; empty while it is read. */
  synchronized Optional<String> failure() {
    long now = nanoTime.getAsLong();
    Duration still = Duration.ofNanos(now - movedNanos);
    if (still.compareTo(STUCK_AFTER) > 0) {
      return Optional.of("has not moved for " + still.toSeconds() + " s");
    }
    return failures < TOO_MANY || isOver(now)
        ? Optional.empty()
        : Optional.of("failed " + failures + " times in a row, last of " + lastFailure);
  }

  private boolean isOver(long now) {
    return failures == 0 || now - failedNanos > IN_A_ROW.toNanos();
  }
}
