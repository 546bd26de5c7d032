package io.seckill.consumer.store;

import io.seckill.consumer.database.ConnectionPools;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

/** Finds out whether MySQL takes writes, without writing. */
@Component
public class LedgerProbe {

  /** A frozen server must not hold the probe as long as it may hold a batch. */
  private static final int TIMEOUT_MS = 1_500;

  private static final Executor AT_ONCE = Runnable::run;

  private final DataSource dataSource;

  LedgerProbe(ConnectionPools pools) {
    this.dataSource = pools.orderStorage();
  }

  /**
   * Deletes an order alias that cannot exist: a server that is read-only refuses that too.
   *
   * @throws SQLException when MySQL cannot be reached, is too slow, or does not write
   */
  public void write() throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      int before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(AT_ONCE, TIMEOUT_MS);
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("DELETE FROM order_alias WHERE order_id = 0");
      }
      connection.setNetworkTimeout(AT_ONCE, before);
    }
  }
}
