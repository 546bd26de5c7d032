package io.seckill.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A transaction that keeps rows or tables locked until it ends; closing it rolls back. */
public final class RowLock implements AutoCloseable {

  private final Connection connection;

  RowLock(Connection connection, String statement) {
    this.connection = connection;
    try {
      connection.setAutoCommit(false);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    execute(statement);
  }

  public void execute(String statement) {
    try (Statement sql = connection.createStatement()) {
      sql.execute(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  public void commit() {
    execute("COMMIT");
  }

  /** Lets others have what was locked, as it was. */
  public void release() {
    execute("ROLLBACK");
    execute("UNLOCK TABLES");
  }

  @Override
  public void close() {
    try (connection) {
      connection.rollback();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
