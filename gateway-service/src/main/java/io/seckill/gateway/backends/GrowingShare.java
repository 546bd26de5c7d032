package io.seckill.gateway.backends;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The share of the purchases that a server gets after an outage: it has to work off what waited
 * elsewhere, and all shoppers come back at once. Counted, not random: of ten purchases at 30 %
 * exactly three pass. The first ten purchases always pass.
 */
final class GrowingShare {

  static final long GROWS_FOR_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long ALL = 1_000;
  private static final long FIRST = 300;

  /** Purchases that pass before any is refused. */
  private static final int FEW = 10;

  private final long startNanos;
  private final AtomicLong asked = new AtomicLong();

  /** Sum of the shares so far; a purchase passes when it completes a whole. */
  private final AtomicLong shares = new AtomicLong();

  GrowingShare(long startNanos) {
    this.startNanos = startNanos;
  }

  boolean isWhole(long nowNanos) {
    return nowNanos - startNanos >= GROWS_FOR_NANOS;
  }

  boolean letsThrough(long nowNanos) {
    if (asked.getAndIncrement() < FEW) {
      return true;
    }
    long share = share(nowNanos);
    long before = shares.getAndAdd(share);
    return (before + share) / ALL > before / ALL;
  }

  private long share(long nowNanos) {
    long grown = (ALL - FIRST) * Math.max(0, nowNanos - startNanos) / GROWS_FOR_NANOS;
    return Math.min(ALL, FIRST + grown);
  }
}
