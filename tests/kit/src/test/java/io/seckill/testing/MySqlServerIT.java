package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class MySqlServerIT {

  private static MySqlServer mysql;
  private MySqlDatabase database;

  @BeforeAll
  static void startAnOwnServer() {
    mysql = MySqlServer.start("innodb-lock-wait-timeout=3");
  }

  @AfterAll
  static void closeIt() {
    mysql.close();
  }

  @BeforeEach
  void createOneOrder() throws SQLException {
    database = mysql.newDatabase();
    execute("CREATE TABLE orders (id BIGINT PRIMARY KEY) ENGINE = InnoDB");
    execute("INSERT INTO orders VALUES (1)");
  }

  @Test
  void takesTheLinesOfItsConfiguration() throws SQLException {
    assertThat(query("SELECT @@innodb_lock_wait_timeout")).isEqualTo(3);
  }

  @Test
  void keepsCommittedRowsOverAKill() throws SQLException {
    int port = mysql.port();
    mysql.kill();
    assertThatThrownBy(() -> database.connect()).isInstanceOf(SQLException.class);
    mysql.restart();

    assertThat(mysql.port()).isEqualTo(port);
    assertThat(query("SELECT COUNT(*) FROM orders")).isEqualTo(1);
  }

  @Test
  void startsEmptyAfterAWipeAndGetsItsDatabaseBack() throws SQLException {
    mysql.wipe();
    mysql.restart();
    mysql.recreate(database);

    assertThatThrownBy(() -> query("SELECT COUNT(*) FROM orders"))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getErrorCode()).isEqualTo(1146));
  }

  /** Row 28 of docs/proof.md. */
  @Test
  void refusesWritesWithError1290WhileReadOnly() throws SQLException {
    mysql.setReadOnly(true);
    try {
      assertThatThrownBy(() -> execute("INSERT INTO orders VALUES (2)"))
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(e.getErrorCode()).isEqualTo(1290));
      assertThat(query("SELECT COUNT(*) FROM orders")).isEqualTo(1);
    } finally {
      mysql.setReadOnly(false);
    }
    execute("INSERT INTO orders VALUES (2)");
  }

  @Test
  void answersNothingWhileFrozenAndGoesOnAfterwards() throws SQLException {
    String impatient = database.jdbcUrl().replace("socketTimeout=10000", "socketTimeout=300");
    try (Connection connection =
            DriverManager.getConnection(impatient, database.username(), database.password());
        Statement statement = connection.createStatement()) {
      mysql.freeze();
      assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
    } finally {
      mysql.thaw();
    }
    assertThat(query("SELECT COUNT(*) FROM orders")).isEqualTo(1);
  }

  /** facts.md 28: without useAffectedRows the count would include rows found but not changed. */
  @Test
  void countsOnlyRowsThatChanged() throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate("UPDATE orders SET id = 1 WHERE id = 1")).isZero();
    }
  }

  @Test
  void isReachedThroughAProxy() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(mysql);
        Connection connection = database.via(proxy).connect()) {
      assertThat(connection.isValid(5)).isTrue();
      proxy.reset();

      assertThat(connection.isValid(5)).isFalse();
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long query(String sql) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
