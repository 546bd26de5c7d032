package io.seckill.consumer.reconciliation;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * How long MySQL keeps a connection without a statement before it closes it, with its locks and its
 * transaction. The pools' own value is short, so that a process that is suspended soon holds
 * nothing. Work that pauses for longer sets its own value, and restores the old one before the
 * connection returns to the pool.
 */
final class WaitTimeout {

  private final Connection connection;
  private final long before;

  private WaitTimeout(Connection connection, long before) {
    this.connection = connection;
    this.before = before;
  }

  /**
   * @param silence whole seconds, at least 1
   */
  static WaitTimeout set(Connection connection, Duration silence) throws SQLException {
    WaitTimeout set = new WaitTimeout(connection, read(connection));
    set.seconds(silence.toSeconds());
    return set;
  }

  void restore() throws SQLException {
    seconds(before);
  }

  private void seconds(long seconds) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET SESSION wait_timeout = " + seconds);
    }
  }

  private static long read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT @@SESSION.wait_timeout")) {
      row.next();
      return row.getLong(1);
    }
  }
}
