package io.seckill.consumer.storage;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Closes a connection that cannot roll back, which rolls back as well. Spring would switch it to
 * auto-commit, and that commits half a batch if the connection still works.
 */
final class StorageTransactions extends JdbcTransactionManager {

  private static final long serialVersionUID = 1L;

  private static final Logger log = LoggerFactory.getLogger(StorageTransactions.class);

  StorageTransactions(DataSource pool) {
    super(pool);
  }

  @Override
  protected void doRollback(DefaultTransactionStatus status) {
    Connection connection =
        ((JdbcTransactionObjectSupport) status.getTransaction())
            .getConnectionHolder()
            .getConnection();
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
