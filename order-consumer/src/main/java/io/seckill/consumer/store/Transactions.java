package io.seckill.consumer.store;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs work in a transaction of its own. Every failure rolls back the whole transaction. */
class Transactions {

  private static final Logger log = LoggerFactory.getLogger(Transactions.class);

  private final DataSource dataSource;

  Transactions(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** Work on an open transaction. */
  interface Work<T> {
    /**
     * @return null to roll everything back
     */
    @Nullable T on(Connection connection) throws SQLException;
  }

  /**
   * @return what the work returned; null when it was rolled back
   * @throws SQLException after a rollback; or from the COMMIT, whose outcome is then unknown
   */
  <T> @Nullable T run(Work<T> work) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      boolean committed = false;
      try {
        T result = work.on(connection);
        if (result != null) {
          connection.commit();
          committed = true;
        }
        return result;
      } finally {
        if (!committed) {
          rollBack(connection);
        }
      }
    }
  }

  /**
   * Always rolls back the whole transaction: error 1205 rolls back one statement only, whatever its
   * message suggests (FACTS 32). A connection that cannot roll back is closed, which rolls back as
   * well.
   */
  private static void rollBack(Connection connection) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      log.debug("Cannot roll back, closing the connection instead", e);
      abort(connection);
    }
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("The connection is gone already", e);
    }
  }
}
