package io.seckill.consumer.runtime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * A named lock of MySQL, held by a connection of its own: it ends with the process that took it,
 * and when the host of that process stops responding. It keeps runs from doing the same work; their
 * writes are safe without it, because every write checks the value that it replaces.
 */
public final class RunLock implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RunLock.class);

  /**
   * Named locks belong to the whole server, up to 64 characters; MySQL 9.6 has no MD5() any more.
   */
  private static final String LOCK = "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), ?)";

  /** A primary that is demoted keeps its connections and locks, beside those of its successor. */
  private static final String ON_PRIMARY =
      "SELECT IF(@@global.read_only OR @@global.innodb_read_only, -1, ";

  private final Connection connection;
  private final JdbcClient jdbc;
  private final String name;
  private final WaitTimeout silence;

  private RunLock(Connection connection, String name, Duration silence) {
    this.connection = connection;
    this.jdbc = JdbcClient.create(new SingleConnectionDataSource(connection, true));
    this.name = name;
    this.silence = WaitTimeout.set(jdbc, silence);
  }

  /**
   * @param name unique within the database, up to 30 characters
   * @param silence idle time after which MySQL releases the lock, at least 1 s: longer than the
   *     holder ever waits between two calls of {@link #isHeld}. MySQL itself would keep the
   *     connection of a host that lost its power for hours.
   * @return empty when another connection holds the lock
   * @throws DataAccessException when MySQL is unavailable, or read-only
   */
  public static Optional<RunLock> take(DataSource dataSource, String name, Duration silence) {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      RunLock lock = new RunLock(connection, name, silence);
      boolean taken = lock.isOne(ON_PRIMARY + "GET_LOCK(" + LOCK + ", 0))");
      if (!taken) {
        lock.close();
      }
      return taken ? Optional.of(lock) : Optional.empty();
    } catch (DataAccessException e) {
      // Whether the lock was taken is unknown: it ends with the connection, now.
      abort(connection);
      throw e;
    }
  }

  /** A pool hands an aborted connection out again, unless a call of it fails. */
  private static void abort(Connection connection) {
    try (connection) {
      connection.abort(Runnable::run);
      connection.rollback();
    } catch (SQLException e) {
      log.debug("The connection is gone", e);
    }
  }

  /**
   * Whether the connection that holds the lock is still alive, and its server the primary; the
   * query also restarts the idle time. To be called right before a step that replaces data of
   * others.
   */
  public boolean isHeld() {
    try {
      return isOne(ON_PRIMARY + "IS_USED_LOCK(" + LOCK + ") = CONNECTION_ID())");
    } catch (DataAccessException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      isOne(ON_PRIMARY + "RELEASE_LOCK(" + LOCK + "))");
      silence.restore();
      connection.close();
    } catch (DataAccessException | SQLException e) {
      log.debug("Cannot release the lock {}; it ends with its connection", name, e);
      abort(connection);
    }
  }

  private boolean isOne(String sql) {
    int answer = jdbc.sql(sql).param(name).query((row, number) -> row.getInt(1)).single();
    if (answer < 0) {
      throw new DataAccessResourceFailureException("MySQL has become read-only");
    }
    return answer == 1;
  }
}
