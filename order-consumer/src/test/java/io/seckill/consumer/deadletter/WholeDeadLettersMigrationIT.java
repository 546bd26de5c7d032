package io.seckill.consumer.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class WholeDeadLettersMigrationIT {

  @Test
  void knowsTheLettersThatWereCutBefore(MySqlServer mysql) throws SQLException {
    MySqlDatabase database = mysql.newDatabase();
    migrate(database, "5");
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      insert(statement, 1, "'whole'", "'whole'");
      insert(statement, 2, "REPEAT('x', 4096)", "REPEAT('x', 100000)");
      insert(statement, 3, "REPEAT('y', 4096)", "REPEAT('y', 4096)");

      migrate(database, "6");

      ResultSet lengths =
          statement.executeQuery("SELECT GROUP_CONCAT(id, ':', payload_bytes) FROM dead_letter");
      lengths.next();
      assertThat(lengths.getString(1)).isEqualTo("1:5,3:4096");
    }
  }

  private static void migrate(MySqlDatabase database, String version) {
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.username(), database.password())
        .target(version)
        .load()
        .migrate();
  }

  private static void insert(Statement statement, long id, String payload, String hashed)
      throws SQLException {
    statement.execute(
        "INSERT INTO dead_letter (id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at) VALUES ("
            + (id + ", " + payload + ", UNHEX(SHA2(" + hashed + ", 256))")
            + ", 'UNREADABLE', '', 1, NOW(3), NOW(3))");
  }
}
