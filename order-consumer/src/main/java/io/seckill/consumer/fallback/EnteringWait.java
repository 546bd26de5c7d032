package io.seckill.consumer.fallback;

import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long MySQL waits for gateways when a fallback begins. The time counts from the first read of
 * the term by this process: a transaction can be read only after its commit, which a standby may
 * delay for longer than the wait. For one thread.
 */
final class EnteringWait {

  /** Gateways stop confirming within 2 s of the commit; 1 s more allows for clock drift. */
  private static final Duration PROMISES_END = Duration.ofSeconds(3);

  private static final Duration LONGEST_TRANSFER = Duration.ofSeconds(15);

  private final LongSupplier nanoTime;
  private long term;
  private long readNanos;

  EnteringWait(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Whether MySQL may decide: all gateways have transferred, or none can confirm any more. */
  boolean isOver(Overview seen) {
    Row row = seen.fallback();
    if (row.term() != term) {
      term = row.term();
      readNanos = nanoTime.getAsLong();
    }
    Gateways nodes = seen.gateways();
    if (nodes.awaited(term).isEmpty()) {
      return true;
    }
    Duration wait = nodes.areTransferring(term) ? LONGEST_TRANSFER : PROMISES_END;
    return nanoTime.getAsLong() - readNanos >= wait.toNanos();
  }
}
