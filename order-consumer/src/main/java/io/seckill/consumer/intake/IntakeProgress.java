package io.seckill.consumer.intake;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Whether the threads of one queue's intake make progress, as they report themselves. Waiting for
 * the broker or for MySQL counts as progress: both have alerts of their own. Thread-safe.
 */
final class IntakeProgress {

  /** Twice the longest step of a writer: the time MySQL may take to refuse a batch for good. */
  private static final Duration STUCK_AFTER = Duration.ofSeconds(60);

  /** A defect not repeated for this long counts as over: a lasting one recurs within a second. */
  private static final Duration IN_A_ROW = Duration.ofSeconds(30);

  private static final int TOO_MANY = 3;

  private final LongSupplier nanoTime;
  private volatile long movedNanos;
  private long failedNanos;
  private int failures;
  private String lastFailure = "";
  private int failedBatches;

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

  synchronized void batchStored() {
    failedBatches = 0;
  }

  synchronized void batchFailed() {
    failedBatches++;
  }

  /** Batches in a row that MySQL failed to store. */
  synchronized int failedBatches() {
    return failedBatches;
  }

  /**
   * Why the queue is not consumed although all it needs is available; empty while it is consumed.
   */
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
