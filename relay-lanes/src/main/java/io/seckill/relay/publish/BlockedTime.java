package io.seckill.relay.publish;

/**
 * Total time that connections have been blocked, including those that are blocked now: an alarm
 * that never ends must show as well. Times are {@link System#nanoTime}. Thread-safe.
 */
final class BlockedTime {

  private long blockedNow;

  /** Sum of the start times of those blocked now; may overflow, its differences stay correct. */
  private long starts;

  private long endedNanos;

  synchronized void began(long at) {
    blockedNow++;
    starts += at;
  }

  /**
   * @param since the time passed to {@link #began}
   */
  synchronized void ended(long since, long at) {
    blockedNow--;
    starts -= since;
    endedNanos += at - since;
  }

  synchronized long nanosUntil(long now) {
    return endedNanos + blockedNow * now - starts;
  }
}
