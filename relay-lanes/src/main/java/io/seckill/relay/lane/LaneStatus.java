package io.seckill.relay.lane;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State of a lane, also for health and metrics; {@link LaneState} has its transitions. The lane's
 * thread calls what is package-private, any thread what is public.
 */
public final class LaneStatus {

  private static final Logger log = LoggerFactory.getLogger(LaneStatus.class);

  /**
   * Time without failures after which a lane counts as running again, so that there is one log line
   * per change, not per attempt.
   */
  private static final Duration CALM = Duration.ofSeconds(1);

  private final String lane;
  private final int partition;
  private final LongSupplier nanoTime;
  private volatile LaneState state = LaneState.STARTING;
  private volatile String reason = "";
  private volatile int outstanding;
  private volatile int inFlight;
  private volatile long movedAt;
  private long retriedAt;
  private int refusals;

  LaneStatus(String lane, int partition) {
    this(lane, partition, System::nanoTime);
  }

  LaneStatus(String lane, int partition, LongSupplier nanoTime) {
    this.lane = lane;
    this.partition = partition;
    this.nanoTime = nanoTime;
    this.movedAt = nanoTime.getAsLong();
    this.retriedAt = movedAt;
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

  /** The lane has taken or removed orders, or found nothing to do; ends a failure that is over. */
  void progressed() {
    long now = nanoTime.getAsLong();
    movedAt = now;
    if (state == LaneState.STARTING || now - retriedAt > CALM.toNanos()) {
      enter(LaneState.RUNNING, "");
      refusals = 0;
    }
  }

  /** Whether the lane has failed, and has not gone on for a second since. */
  boolean isFailing() {
    return state == LaneState.BROKER_UNAVAILABLE || state == LaneState.REDIS_UNAVAILABLE;
  }

  /** The pause after a failure is over. */
  void retrying() {
    retriedAt = nanoTime.getAsLong();
  }

  /**
   * Counts a refusal of the broker; returns the number of refusals since the last failure ended.
   */
  int refused() {
    return ++refusals;
  }

  void outstanding(int orders, int unconfirmed) {
    outstanding = orders;
    inFlight = unconfirmed;
  }

  /** Name of the lane, {@code <relay>-<n>}, for logs and metrics. */
  public String lane() {
    return lane;
  }

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

  /** Orders in the lane's private queue, by the lane's count before the last failure. */
  public int outstanding() {
    return outstanding;
  }

  int inFlight() {
    return inFlight;
  }

  /** Time since the lane last moved orders or found nothing to do. */
  public Duration sinceMoved() {
    return Duration.ofNanos(nanoTime.getAsLong() - movedAt);
  }
}
