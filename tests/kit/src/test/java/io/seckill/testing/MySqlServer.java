package io.seckill.testing;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A MySQL server; MariaDB where servers are child processes. Commits survive kill -9, not a power
 * failure.
 */
public final class MySqlServer extends TestServer {

  static final int SERVICE_PORT = 3306;
  static final String ROOT_PASSWORD = "test";

  /**
   * Parameters that every client of the pipeline sets (facts.md 28, 31, 40), and those that a
   * connection without TLS to MySQL 9 needs.
   */
  private static final String PARAMETERS =
      "?useAffectedRows=true&rewriteBatchedStatements=false&connectTimeout=2000&socketTimeout=10000"
          + "&sslMode=DISABLED&allowPublicKeyRetrieval=true";

  private final Machine machine;
  private final AtomicInteger nextDatabase = new AtomicInteger();

  private MySqlServer(Machine machine, boolean shared) {
    super("MySQL", machine, shared);
    this.machine = machine;
  }

  /**
   * Starts a server for the caller alone; the caller closes it.
   *
   * @param lines lines of the section [mysqld], such as {@code "innodb_flush_log_at_trx_commit=1"};
   *     they override the defaults
   */
  public static MySqlServer start(String... lines) {
    return started(new MySqlServer(Backend.current().mysql(List.of(lines)), false));
  }

  /** As {@link #start(String...)}, in a container with any {@code seckill.test.servers}. */
  public static MySqlServer startContainer(String... lines) {
    return started(new MySqlServer(new ContainerBackend().mysql(List.of(lines)), false));
  }

  static MySqlServer startShared() {
    return started(new MySqlServer(Backend.current().mysql(List.of()), true));
  }

  /** A server that is not started yet; {@link #launch()} starts it. */
  static MySqlServer on(Machine machine) {
    return new MySqlServer(machine, false);
  }

  private static MySqlServer started(MySqlServer server) {
    server.launch();
    return server;
  }

  @Override
  public int port() {
    return machine.port(SERVICE_PORT);
  }

  /**
   * Creates an empty database that no other caller gets, and a user with all privileges in it and
   * none outside it.
   */
  public MySqlDatabase newDatabase() {
    String name = "t" + nextDatabase.incrementAndGet();
    MySqlDatabase database = new MySqlDatabase(host(), port(), name, name, name);
    recreate(database);
    return database;
  }

  /** Creates the database and its user if they do not exist, as after a {@link #wipe()}. */
  public void recreate(MySqlDatabase database) {
    String user = "'" + database.username() + "'@'%'";
    execute("CREATE DATABASE IF NOT EXISTS " + database.name());
    execute("CREATE USER IF NOT EXISTS " + user + " IDENTIFIED BY '" + database.password() + "'");
    execute("GRANT ALL ON " + database.name() + ".* TO " + user);
  }

  /** With true, every user but root gets error 1290 on writes. */
  public void setReadOnly(boolean readOnly) {
    execute("SET GLOBAL read_only = " + (readOnly ? 1 : 0));
  }

  /** A new connection as root, outside any database; the caller closes it. */
  public Connection rootConnection() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(address(), ""), "root", ROOT_PASSWORD);
  }

  /** {@code host:port}. */
  String address() {
    return host() + ":" + port();
  }

  /**
   * @param hosts {@code host:port}, several of them separated by commas
   */
  static String jdbcUrl(String hosts, String database) {
    return "jdbc:mysql://" + hosts + "/" + database + PARAMETERS;
  }

  @Override
  void handshake() throws SQLException {
    execute("DO 1");
  }

  void execute(String sql) {
    try (Connection connection = rootConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException("MySQL refused: " + sql, e);
    }
  }

  /** Returns one column of the first row as text; empty when there is no row, or it is null. */
  String value(String sql, String column) {
    try (Connection connection = rootConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? Objects.requireNonNullElse(rows.getString(column), "") : "";
    } catch (SQLException e) {
      throw new IllegalStateException("MySQL refused: " + sql, e);
    }
  }
}
