package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ChildProcessesOnly
@ExtendWith(TestServers.class)
class StandbyLagIT {

  @Test
  void growsWhileTheStandbyAppliesNothingOrIsDown() throws SQLException {
    try (MySqlPair pair = MySqlPair.start()) {
      MySqlDatabase database = pair.newDatabase();
      StandbyLag lag =
          new StandbyLag(
              pair.jdbcUrl(database),
              database.username(),
              database.password(),
              new SimpleMeterRegistry());
      execute(database.connect(), "CREATE TABLE numbers (n INT)");
      awaitNone(lag);

      execute(pair.standby().rootConnection(), "STOP SLAVE SQL_THREAD");
      execute(database.connect(), "INSERT INTO numbers VALUES (1)");
      awaitSome(lag);
      execute(pair.standby().rootConnection(), "START SLAVE SQL_THREAD");
      awaitNone(lag);

      pair.standby().kill();
      awaitSome(lag);
      pair.heal();
      awaitNone(lag);

      pair.promote();
      awaitSome(lag);
      pair.rejoin();
      awaitNone(lag);
    }
  }

  private static void awaitNone(StandbyLag lag) {
    eventually()
        .until(
            () -> {
              lag.round();
              return lag.seconds() == 0;
            });
  }

  private static void awaitSome(StandbyLag lag) {
    eventually()
        .until(
            () -> {
              lag.round();
              return lag.seconds() > 1;
            });
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (connection;
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
