package io.seckill.consumer.fallback;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether MySQL's clock has jumped ahead of this process's, as by the promotion of a standby. Until
 * every gateway has sent another heartbeat, those from before then look older than they are. For
 * one thread.
 */
final class ClockJumps {

  /** A gateway stops by itself after 30 s without an answer, and is removed after 35 s. */
  private static final Duration HARMLESS = Duration.ofSeconds(5);

  private final LongSupplier nanoTime;
  private @Nullable Instant last;
  private long lastNanos;
  private @Nullable Long jumpedNanos;

  ClockJumps(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * Whether the clock has not jumped, now or within this time.
   *
   * @param now MySQL's time, just read
   */
  boolean noneWithin(Duration time, Instant now) {
    long nanos = nanoTime.getAsLong();
    Instant expected = last == null ? now : last.plusNanos(nanos - lastNanos);
    if (expected.plus(HARMLESS).isBefore(now)) {
      jumpedNanos = nanos;
    }
    last = now;
    lastNanos = nanos;
    return jumpedNanos == null || nanos - jumpedNanos >= time.toNanos();
  }
}
