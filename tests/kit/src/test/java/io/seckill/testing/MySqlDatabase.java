package io.seckill.testing;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** One database of a MySQL server and the user who owns it. */
public record MySqlDatabase(String host, int port, String name, String username, String password) {

  /**
   * Sets useAffectedRows to true and rewriteBatchedStatements to false, with time-outs of 2 s to
   * connect and 10 s for an answer.
   */
  public String jdbcUrl() {
    return MySqlServer.jdbcUrl(host + ":" + port, name);
  }

  /** A new connection as the owner; the caller closes it. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), username, password);
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
