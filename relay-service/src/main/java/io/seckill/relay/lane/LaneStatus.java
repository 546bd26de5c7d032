package io.seckill.relay.lane;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What others may know of a lane. Written by the lane's thread, read by any. */
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

  /** Enters a state; says so once, not at every failing attempt. */
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

  /** Number of the lane within its relay and its partition, for logs and metrics. */
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

  /** Why the lane is in its state; empty while all is well. */
  public String reason() {
    return reason;
  }

  /** Orders in the lane's private queue, as the lane knows it. */
  public int outstanding() {
    return outstanding;
  }

  /** Publishes without an answer. */
  public int inFlight() {
    return inFlight;
  }

  /** Time since the lane last moved orders or found nothing to do. */
  public Duration sinceMoved() {
    return Duration.ofNanos(System.nanoTime() - movedAt);
  }
}
