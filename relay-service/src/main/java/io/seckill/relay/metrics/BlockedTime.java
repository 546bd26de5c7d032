package io.seckill.relay.metrics;

/**
 * Time that connections have been blocked, over all of them, with that of those blocked now: an
 * alarm that never ends must show as well. Times are {@link System#nanoTime}. Thread-safe.
 */
final class BlockedTime {

  private long blockedNow;

  /** Sum of the starts of those blocked now; may wrap around, as differences of it do not. */
  private long starts;

  private long endedNanos;

  synchronized void began(long at) {
    blockedNow++;
    starts += at;
  }

  /**
   * @param since the start that was told
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
