package io.seckill.consumer.store;

import java.sql.Connection;
import java.sql.SQLException;

/** What the store must never do; mutations have it done in place of the method of the same name. */
public final class WrongStore {

  private WrongStore() {}

  /** Starts with whatever the driver counts. */
  static void checkAffectedRows(Connection connection) {}

  /** Knows no limit. */
  static int limit(Terms sale) {
    return Integer.MAX_VALUE;
  }

  /** Keeps what the transaction had done when it failed. */
  static void rollBack(Connection connection) throws SQLException {
    connection.commit();
  }
}
