package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors as the real server reports them: MariaDB and MySQL differ in numbers and texts. */
@ExtendWith(TestServers.class)
class SqlFailureIT {

  private static final String ORDER =
      "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
          + " status, single_buyer, epoch, seq, admitted_at) VALUES ";

  @AutoClose private static Connection connection;

  @BeforeAll
  static void migrate(MySqlServer mysql) throws SQLException {
    MySqlDatabase database = mysql.newDatabase();
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.username(), database.password())
        .load()
        .migrate();
    connection = database.connect();
    connection.setAutoCommit(false);
  }

  @BeforeEach
  void oneOrder() throws SQLException {
    connection.rollback();
    execute(ORDER + row(1, 5, 9, "'first'", "5"));
    execute("INSERT INTO user_quota VALUES (5, 9, 1, 1)");
  }

  /**
   * facts.md 35. The error text ends in {@code 'PRIMARY'} on MariaDB, in {@code 'orders.PRIMARY'}
   * on MySQL.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "the id,                     1, 6, 9, 'other', 6",
    "the request,                2, 5, 9, 'first', NULL",
    "the one place of the buyer, 2, 5, 9, 'other', 5"
  })
  void aDuplicateBlamesItsRow(
      String what, long id, long user, long sku, String request, String buyer) {
    SQLException e = refused(ORDER + row(id, user, sku, "'" + request + "'", buyer));

    assertThat(e.getErrorCode()).isEqualTo(1062);
    assertThat(e.getSQLState()).isEqualTo("23000");
    assertThat(SqlFailure.of(e)).isEqualTo(SqlFailure.ROW);
  }

  /**
   * facts.md 34: a plain batch leaves its other rows in the transaction when one is a duplicate.
   */
  @Test
  void aStatementOfManyRowsLeavesNoneWhenOneIsADuplicate() throws SQLException {
    refused(
        ORDER
            + row(2, 6, 9, "'second'", "NULL")
            + ","
            + row(1, 7, 9, "'third'", "NULL")
            + ","
            + row(3, 8, 9, "'fourth'", "NULL"));

    try (Statement statement = connection.createStatement();
        var count = statement.executeQuery("SELECT COUNT(*) FROM orders")) {
      count.next();
      assertThat(count.getInt(1)).isEqualTo(1);
    }
  }

  /** A violated CHECK is error 4025 on MariaDB and 3819 on MySQL. */
  @Test
  void aCheckBlamesItsRow() {
    assertThat(SqlFailure.of(refused("UPDATE user_quota SET owned_count = 2")))
        .isEqualTo(SqlFailure.ROW);
  }

  @Test
  void aMissingValueBlamesItsRow() {
    assertThat(SqlFailure.of(refused(ORDER + row(2, 6, 9, "NULL", "NULL"))))
        .isEqualTo(SqlFailure.ROW);
  }

  @Test
  void aMissingTableBlamesNoOrder() {
    assertThat(SqlFailure.of(refused("INSERT INTO gone VALUES (1)")))
        .isEqualTo(SqlFailure.UNAVAILABLE);
  }

  private static String row(long id, long user, long sku, String request, String buyer) {
    return "(%d, %d, %d, 1, 0, %s, 'CONFIRMED', %s, 1, 1, NOW(3))"
        .formatted(id, user, sku, request, buyer);
  }

  private static SQLException refused(String sql) {
    return catchThrowableOfType(SQLException.class, () -> execute(sql));
  }

  private static void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
