package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
@ChildProcessesOnly
class MySqlPairIT {

  private static MySqlPair pair;
  private MySqlDatabase database;

  @BeforeAll
  static void startBoth() {
    pair = MySqlPair.start();
  }

  @AfterAll
  static void closeBoth() {
    pair.close();
  }

  @BeforeEach
  void createOneOrder() throws SQLException {
    pair.heal();
    database = pair.newDatabase();
    execute("CREATE TABLE orders (id BIGINT PRIMARY KEY) ENGINE = InnoDB");
    execute("INSERT INTO orders VALUES (1)");
  }

  @Test
  void hasTheShippedSettingsOnBoth() {
    for (MySqlServer server : List.of(pair.primary(), pair.standby())) {
      assertThat(setting(server, "rpl_semi_sync_master_wait_point")).isEqualTo("AFTER_SYNC");
      assertThat(setting(server, "rpl_semi_sync_master_timeout")).isEqualTo("4294967295");
      assertThat(setting(server, "sync_binlog")).isEqualTo("1");
      assertThat(setting(server, "gtid_strict_mode")).isEqualTo("1");
    }
    assertThat(setting(pair.primary(), "read_only")).isEqualTo("0");
    assertThat(setting(pair.standby(), "read_only")).isEqualTo("1");
  }

  @Test
  void bringsACommitToTheStandby() {
    eventually().untilAsserted(() -> assertThat(orders(pair.standby())).containsExactly(1L));
  }

  @Test
  void namesBothHostsInItsUrl() throws SQLException {
    String url = pair.jdbcUrl(database);

    assertThat(url)
        .contains("127.0.0.1:" + pair.primary().port(), "127.0.0.1:" + pair.standby().port());
    try (Connection connection =
        DriverManager.getConnection(url, database.username(), database.password())) {
      assertThat(connection.isValid(5)).isTrue();
    }
  }

  @Test
  void aCommitWaitsWhileTheStandbyIsFrozen() throws SQLException {
    pair.standby().freeze();

    assertThatThrownBy(this::insertImpatiently).isInstanceOf(SQLException.class);
    pair.standby().thaw();

    eventually().untilAsserted(() -> assertThat(orders(pair.standby())).containsExactly(1L, 2L));
  }

  @Test
  void aPrimaryThatReturnsAsPrimaryKeepsItsOrdersAndItsStandby() throws SQLException {
    MySqlServer primary = pair.primary();
    primary.kill();
    pair.heal();

    assertThat(pair.primary()).isSameAs(primary);
    execute("INSERT INTO orders VALUES (2)");
    eventually().untilAsserted(() -> assertThat(orders(pair.standby())).containsExactly(1L, 2L));
  }

  @Test
  void aFormerPrimaryForgetsWhatTheStandbyNeverReceived() throws SQLException {
    MySqlServer former = pair.primary();
    pair.stopReceiving();
    assertThatThrownBy(this::insertImpatiently).isInstanceOf(SQLException.class);
    former.kill();

    pair.promote();
    assertThat(pair.standby()).isSameAs(former);
    assertThat(orders(pair.primary())).containsExactly(1L);
    execute("INSERT INTO orders VALUES (3)");

    pair.rejoin();
    eventually().untilAsserted(() -> assertThat(orders(former)).containsExactly(1L, 3L));
    assertThat(setting(former, "read_only")).isEqualTo("1");
    former.freeze();
    assertThatThrownBy(this::insertImpatiently).isInstanceOf(SQLException.class);
  }

  /** Gives up after a second; the server goes on. */
  private void insertImpatiently() throws SQLException {
    String url = database.on(pair.primary()).jdbcUrl().replace("Timeout=10000", "Timeout=1000");
    try (Connection connection =
            DriverManager.getConnection(url, database.username(), database.password());
        Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO orders VALUES (2)");
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = database.on(pair.primary()).connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<Long> orders(MySqlServer server) throws SQLException {
    List<Long> ids = new ArrayList<>();
    try (Connection connection = database.on(server).connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT id FROM orders ORDER BY id")) {
      while (rows.next()) {
        ids.add(rows.getLong(1));
      }
    }
    return ids;
  }

  private static String setting(MySqlServer server, String name) {
    return server.value("SELECT @@global." + name + " AS setting", "setting");
  }
}
