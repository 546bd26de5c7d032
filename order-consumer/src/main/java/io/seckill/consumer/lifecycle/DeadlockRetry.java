package io.seckill.consumer.lifecycle;

import java.sql.SQLException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Runs work in one transaction, and again when MySQL chose it as the victim of a deadlock: in that
 * case the whole transaction was rolled back. Any exception rolls back the whole transaction, which
 * error 1205 alone would not do (FACTS 32).
 */
@Component
class DeadlockRetry {

  private static final int MAX_TRIES = 4;
  private static final int DEADLOCK = 1213;

  private final TransactionOperations transactions;

  DeadlockRetry(TransactionOperations transactions) {
    this.transactions = transactions;
  }

  /**
   * @return what the work returned, after COMMIT
   */
  <T> T run(Supplier<T> work) {
    for (int tries = 1; ; tries++) {
      try {
        T result = transactions.execute(tx -> work.get());
        if (result == null) {
          throw new IllegalStateException("work in a transaction returns something");
        }
        return result;
      } catch (ConcurrencyFailureException e) {
        if (tries == MAX_TRIES || !isDeadlock(e)) {
          throw e;
        }
      }
    }
  }

  private static boolean isDeadlock(ConcurrencyFailureException e) {
    @Nullable Throwable root = e.getMostSpecificCause();
    return root instanceof SQLException sql && sql.getErrorCode() == DEADLOCK;
  }
}
