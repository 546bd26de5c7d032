package io.seckill.common.order;

import java.time.Clock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Generates order ids for one worker id. Thread-safe, never blocks, never repeats an id of the
 * worker id as long as each new instance starts above its predecessor's {@link #lastTimeMs()}.
 *
 * <p>When the clock stands still or goes back, ids continue from the last time used; when the 1024
 * numbers of a millisecond are used up, the next millisecond is used ahead of the clock. So the
 * time in an id is never before that of an earlier id, and may be ahead of the clock.
 */
public final class SnowflakeIds {

  private static final int SEQUENCES = 1 << OrderId.SEQUENCE_BITS;
  private static final int WORKERS = 1 << OrderId.WORKER_BITS;

  private final int worker;
  private final Clock clock;
  private long lastTimeMs;
  private int nextSequence;

  /**
   * @param worker 0..255, leased by this process alone
   * @param lastTimeMs time up to which ids of this worker may already exist, Unix ms; 0 for none
   */
  public SnowflakeIds(int worker, long lastTimeMs, Clock clock) {
    if (worker < 0 || worker >= WORKERS) {
      throw new IllegalArgumentException("worker must be 0.." + (WORKERS - 1) + ": " + worker);
    }
    this.worker = worker;
    this.clock = clock;
    this.lastTimeMs = lastTimeMs;
    this.nextSequence = SEQUENCES;
  }

  /** As {@link #next(int, long)}, of any time. */
  public OrderId next(int partition) {
    return Objects.requireNonNull(next(partition, Long.MAX_VALUE));
  }

  /**
   * Returns null, and uses no time, while the next id would be of a time after {@code latestMs}.
   *
   * @param partition of the SKU, 0..15
   * @param latestMs Unix ms
   */
  public synchronized @Nullable OrderId next(int partition, long latestMs) {
    long soonestMs = nextSequence == SEQUENCES ? lastTimeMs + 1 : lastTimeMs;
    long timeMs = Math.max(clock.millis(), soonestMs);
    if (timeMs > latestMs) {
      return null;
    }
    if (timeMs > lastTimeMs) {
      lastTimeMs = timeMs;
      nextSequence = 0;
    }
    return OrderId.of(timeMs, partition, worker, nextSequence++);
  }

  /** Latest time used in an id, Unix ms; a successor of this worker id starts above it. */
  public synchronized long lastTimeMs() {
    return lastTimeMs;
  }

  public int worker() {
    return worker;
  }
}
