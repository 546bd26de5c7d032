package io.seckill.bench.baseline;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Transactions that lose to others: rolled back, and repeated at most three times after a pause
 * that doubles and is half random.
 */
final class Conflicts {

  // MySQL's error codes; MariaDB has one of its own for a violated CHECK.
  private static final int DUPLICATE_KEY = 1062;
  private static final int LOCK_WAIT = 1205;
  private static final int DEADLOCK = 1213;
  private static final int CHECK = 3819;
  private static final int CHECK_OF_MARIADB = 4025;

  private static final int RETRIES = 3;
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  private Conflicts() {}

  /** One transaction, which commits if it returns a value. */
  @FunctionalInterface
  interface Transaction<T> {

    /** Returns empty when it lost to another; it is rolled back. */
    Optional<T> once() throws SQLException;
  }

  /** Returns empty when the last repeat has lost, too. */
  static <T> Optional<T> repeat(Connection mysql, Transaction<T> transaction) throws SQLException {
    for (int retry = 0; ; retry++) {
      Optional<T> result = transaction.once();
      if (result.isPresent()) {
        return result;
      }
      mysql.rollback();
      if (retry == RETRIES) {
        return Optional.empty();
      }
      long half = (FIRST_PAUSE_NANOS << retry) / 2;
      LockSupport.parkNanos(half + ThreadLocalRandom.current().nextLong(half));
    }
  }

  static boolean isDuplicate(SQLException e) {
    return e.getErrorCode() == DUPLICATE_KEY;
  }

  static boolean isCheckViolation(SQLException e) {
    return e.getErrorCode() == CHECK || e.getErrorCode() == CHECK_OF_MARIADB;
  }

  /** Whether MySQL chose this transaction as the one that has to be repeated. */
  static boolean isVictim(SQLException e) {
    return e.getErrorCode() == LOCK_WAIT || e.getErrorCode() == DEADLOCK;
  }
}
