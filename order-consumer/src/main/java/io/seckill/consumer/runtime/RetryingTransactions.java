package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Repeats a transaction that ended in a deadlock or a lock wait time-out, for a limited time. It
 * was rolled back as a whole, which error 1205 alone would not do (facts.md 32), so the work must
 * be harmless when it runs again. A transaction whose COMMIT has no known outcome is not repeated.
 * Thread-safe.
 */
public final class RetryingTransactions implements TransactionOperations {

  private static final long FIRST_PAUSE_MS = 10;
  private static final long LONGEST_PAUSE_MS = 500;

  private final TransactionOperations transactions;
  private final Duration patience;
  private final Counter repeated;

  /**
   * @param transactions begins, commits and rolls back
   * @param patience time after the start during which the transaction may begin again; less than a
   *     lock wait time-out (3 s) to repeat after deadlocks only
   */
  public RetryingTransactions(
      TransactionOperations transactions, Duration patience, MeterRegistry meters) {
    this.transactions = transactions;
    this.patience = patience;
    this.repeated =
        Counter.builder("seckill.consumer.lock.retries")
            .description("Transactions repeated after deadlock, lock wait")
            .register(meters);
  }

  /** Commits before it returns. An interrupt, as by a stop, ends the repetition. */
  @Override
  public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
    long deadline = System.nanoTime() + patience.toNanos();
    for (int tries = 1; ; tries++) {
      try {
        return transactions.execute(work);
      } catch (DataAccessException | TransactionException e) {
        if (!mayRepeat(e, deadline)) {
          throw e;
        }
        repeated.increment();
        long pauseMs = Sleeps.jitteredMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, tries);
        Sleeps.nanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
      }
    }
  }

  private static boolean mayRepeat(RuntimeException e, long deadline) {
    return SqlFailure.of(e) == SqlFailure.TRY_AGAIN
        && System.nanoTime() - deadline < 0
        && !Thread.currentThread().isInterrupted();
  }
}
