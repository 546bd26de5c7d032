package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.Pace.StoringLoad;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** What the rows of the real server say of storing; its clock stands still. */
@ExtendWith(TestServers.class)
class PaceIT {

  private static final Duration NOW = Duration.ofSeconds(1_790_000_000);

  @AutoClose private static Connection connection;
  private static JdbcClient mysql;

  @BeforeAll
  static void migrate(MySqlServer server) throws SQLException {
    MySqlDatabase database = server.newDatabase();
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.username(), database.password())
        .load()
        .migrate();
    connection = database.connect();
    mysql = JdbcClient.create(new SingleConnectionDataSource(connection, true));
    mysql.sql("SET time_zone = '+00:00', timestamp = " + NOW.toSeconds()).update();
  }

  @ParameterizedTest(name = "stored at {0}, {1} after its id")
  @CsvSource({
    "-PT1S, PT2S, STORING",
    "-PT1S, PT2.001S, BEHIND",
    "-PT1S, -PT1M, STORING", // the clock of a gateway is ahead
    "-PT5S, PT0S, STORING",
    "-PT5.001S, PT0S, IDLE",
    "PT0S, PT3S, BEHIND",
    "PT0.001S, PT3S, IDLE", // MySQL's clock was set back
    "PT1H, PT3S, IDLE"
  })
  void theOrdersOfTheLastSecondsCount(Duration stored, Duration wait, StoringLoad load) {
    long storedMs = NOW.plus(stored).toMillis();
    mysql.sql("DELETE FROM orders").update();
    mysql
        .sql(
            "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
                + " status, epoch, seq, admitted_at, created_at)"
                + " VALUES (?, 5, 9, 1, 0, 'key-of-5', 'CONFIRMED', 1, 1, NOW(3), ?)")
        .params(OrderId.of(storedMs - wait.toMillis(), 9, 1, 0).value(), UtcColumn.text(storedMs))
        .update();

    assertThat(Pace.read(mysql)).isEqualTo(load);
  }
}
