package io.seckill.consumer.reconciliation;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A named lock of MySQL, held by a connection of its own: it ends with the process that took it,
 * and when the host of that process stops responding. It keeps runs from doing the same work; their
 * writes are safe without it, because every write checks what it replaces.
 */
final class RunLock implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RunLock.class);

  /**
   * Named locks belong to the whole server, up to 64 characters; MySQL 9.6 has no MD5() any more.
   */
  private static final String LOCK = "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), ?)";

  private final Connection connection;
  private final String name;
  private final WaitTimeout silence;

  private RunLock(Connection connection, String name, WaitTimeout silence) {
    this.connection = connection;
    this.name = name;
    this.silence = silence;
  }

  /**
   * @param name unique within the database, up to 30 characters
   * @param silence idle time after which MySQL releases the lock, at least 1 s: longer than the
   *     holder ever waits between two calls of {@link #isHeld}. MySQL itself would keep the
   *     connection of a host that lost its power for hours.
   * @return empty when another connection holds the lock
   * @throws SQLException when MySQL is unavailable
   */
  static Optional<RunLock> take(DataSource dataSource, String name, Duration silence)
      throws SQLException {
    Connection connection = dataSource.getConnection();
    try {
      RunLock lock = new RunLock(connection, name, WaitTimeout.set(connection, silence));
      boolean taken = isOne(connection, "SELECT GET_LOCK(" + LOCK + ", 0)", name);
      if (!taken) {
        lock.close();
      }
      return taken ? Optional.of(lock) : Optional.empty();
    } catch (SQLException e) {
      // Whether the lock was taken is unknown: it ends with the connection, now.
      connection.abort(Runnable::run);
      connection.close();
      throw e;
    }
  }

  /**
   * Whether the connection that holds the lock is still alive; the query also restarts the idle
   * time. To be called right before a step that replaces what others may have written.
   */
  boolean isHeld() {
    try {
      return isOne(connection, "SELECT IS_USED_LOCK(" + LOCK + ") = CONNECTION_ID()", name);
    } catch (SQLException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try (connection) {
      isOne(connection, "SELECT RELEASE_LOCK(" + LOCK + ")", name);
      silence.restore();
    } catch (SQLException e) {
      log.debug("Cannot release the lock {}; it ends with its connection", name, e);
    }
  }

  private static boolean isOne(Connection connection, String sql, String name) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setString(1, name);
      try (ResultSet row = select.executeQuery()) {
        return row.next() && row.getInt(1) == 1;
      }
    }
  }
}
