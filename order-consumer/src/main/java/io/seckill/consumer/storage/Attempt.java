package io.seckill.consumer.storage;

import io.seckill.consumer.runtime.SqlFailure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * The result of a transaction that stores orders.
 *
 * @param batch null when it was rolled back, because an order cannot be confirmed, or because MySQL
 *     refused a row or a statement
 * @param failure ROW or STATEMENT; null when MySQL refused nothing
 * @param refusal MySQL's message
 */
record Attempt(@Nullable StoredBatch batch, @Nullable SqlFailure failure, String refusal) {

  private static final Logger log = LoggerFactory.getLogger(Attempt.class);

  /** Most tries when another process stores one of the orders between our read and our insert. */
  private static final int MAX_RACES = 3;

  /** Repeats a refused transaction: another process may have stored one of the orders meanwhile. */
  static Attempt repeated(Transactions transactions, Transactions.Work<StoredBatch> work)
      throws DatabaseUnavailableException {
    Attempt attempt = of(transactions, work);
    for (int race = 1; attempt.mayBeRace() && race < MAX_RACES; race++) {
      attempt = of(transactions, work);
    }
    return attempt;
  }

  private boolean mayBeRace() {
    return batch == null && failure != SqlFailure.STATEMENT;
  }

  /** Throws DatabaseUnavailableException when MySQL cannot decide now. */
  static Attempt of(Transactions transactions, Transactions.Work<StoredBatch> work)
      throws DatabaseUnavailableException {
    try {
      return new Attempt(transactions.run(work).orElse(null), null, "");
    } catch (DataAccessException | TransactionException e) {
      SqlFailure failure = SqlFailure.of(e);
      if (!failure.isRefusal()) {
        throw new DatabaseUnavailableException(
            "MySQL cannot store orders now: " + e.getMostSpecificCause(), e);
      }
      return refused(failure, e);
    } catch (RuntimeException e) {
      log.error("A defect keeps orders from being stored", e);
      return refused(SqlFailure.ROW, e);
    }
  }

  private static Attempt refused(SqlFailure failure, RuntimeException e) {
    log.debug("A transaction that stores orders was rolled back", e);
    return new Attempt(
        null, failure, String.valueOf(NestedExceptionUtils.getMostSpecificCause(e).getMessage()));
  }
}
