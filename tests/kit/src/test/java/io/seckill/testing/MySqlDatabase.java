package io.seckill.testing;

import static java.util.stream.Collectors.joining;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;

/** One database of a MySQL server and the user who owns it. */
public record MySqlDatabase(String host, int port, String name, String username, String password) {

  /**
   * Sets useAffectedRows to true and rewriteBatchedStatements to false, with time-outs of 2 s to
   * connect and 10 s for an answer.
   */
  public String jdbcUrl() {
    return MySqlServer.jdbcUrl(host + ":" + port, name);
  }

  /** As {@link #jdbcUrl()}, with servers behind these ports of this machine, in this order. */
  public String jdbcUrlOf(int... ports) {
    return MySqlServer.jdbcUrl(
        Arrays.stream(ports).mapToObj(port -> "127.0.0.1:" + port).collect(joining(",")), name);
  }

  /** A new connection as the owner; the caller closes it. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), username, password);
  }

  /** Returns what the reader makes of each row of a query, over a new connection. */
  public <T> List<T> rows(String query, Rows.Reader<T> reader, Object... params) {
    try (Connection connection = connect()) {
      return Rows.of(connection, query, reader, params);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the number that a query has in its only row, over a new connection. */
  public long number(String query, Object... params) {
    try (Connection connection = connect()) {
      return Rows.number(connection, query, params);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Executes a statement, over a new connection. */
  public void execute(String statement) {
    try (Connection connection = connect();
        Statement sql = connection.createStatement()) {
      sql.execute(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Locks what a statement selects, changes or names, over a new connection. */
  public RowLock lock(String statement) {
    try {
      return new RowLock(connect(), statement);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Keeps order-consumers from the daily audit of this database, which at 03:00 UTC sets right what
   * tests make differ.
   */
  public RowLock lockDailyAudit() {
    return lock("SELECT " + lockOf("daily-audit"));
  }

  /** As {@link #lockDailyAudit}; keeps them from checking sales by themselves, too. */
  public RowLock lockSchedules() {
    return lock("SELECT " + lockOf("daily-audit") + ", " + lockOf("reconcile-all"));
  }

  private static String lockOf(String schedule) {
    return "GET_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), '" + schedule + "'), 0)";
  }

  /** The same database on another server of a {@link MySqlPair}. */
  public MySqlDatabase on(MySqlServer server) {
    return new MySqlDatabase(server.host(), server.port(), name, username, password);
  }

  /** The same database, reached through a proxy. */
  public MySqlDatabase via(TcpProxy proxy) {
    return new MySqlDatabase(proxy.host(), proxy.port(), name, username, password);
  }
}
