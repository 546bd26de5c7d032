package io.seckill.relay.lane;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Status of a lane, for health and metrics. Written by the lane's thread, read by any. */
public final class LaneStatus {

  private static final Logger log = LoggerFactory.getLogger(LaneStatus.class);

  private final String lane;
  private final int partition;
  private volatile LaneState state = LaneState.STARTING;
  private volatile String reason = "";
  private volatile int outstanding;
  private volatile int inFlight;
  private volatile long movedAt = System.nanoTime();

  LaneStatus(String lane, int partition) {
    this.lane = lane;
    this.partition = partition;
  }

  /** Enters a state; logs each change once, not every failed attempt. */
  void enter(LaneState next, String why) {
    LaneState before = state;
    state = next;
    reason = why;
    if (before == next) {
      return;
    }
    if (next == LaneState.RUNNING || next == LaneState.STOPPED) {
      log.info("lane {}: {} (was {})", lane, next, before);
    } else {
      log.warn("lane {}: {} (was {}): {}", lane, next, before, why);
    }
  }

  void outstanding(int orders, int unconfirmed) {
    outstanding = orders;
    inFlight = unconfirmed;
  }

  /** The lane has taken or settled orders, or found nothing to do. */
  void moved() {
    movedAt = System.nanoTime();
  }

  /** Name of the lane, {@code <relay>-<n>}, for logs and metrics. */
  public String lane() {
    return lane;
  }

  /** Partition of the lane, 0..15. */
  public int partition() {
    return partition;
  }

  public LaneState state() {
    return state;
  }

  /** Why the lane is in its state; empty without a failure. */
  public String reason() {
    return reason;
  }

  /** Orders in the lane's private queue, as far as the lane knows. */
  public int outstanding() {
    return outstanding;
  }

  /** Publishes that the broker has not answered. */
  public int inFlight() {
    return inFlight;
  }

  /** Time since the lane last moved orders or found nothing to do. */
  public Duration sinceMoved() {
    return Duration.ofNanos(System.nanoTime() - movedAt);
  }
}
