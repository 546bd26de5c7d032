package io.seckill.gateway.backends;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/**
 * Elapsed time in the form of a clock, for a library that counts seconds by one: unlike the time of
 * day it never jumps. Its instants mean nothing else.
 */
final class ElapsedTime extends Clock {

  private final LongSupplier nanoTime;

  ElapsedTime(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  @Override
  public Instant instant() {
    return Instant.EPOCH.plusNanos(nanoTime.getAsLong());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
