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
public class DatabaseWriteProbe {

  /** A frozen server must not hold the probe as long as it may hold a batch. */
  private static final int TIMEOUT_MS = 1_500;

  private static final Executor AT_ONCE = Runnable::run;

  private final DataSource orderStorage;

  DatabaseWriteProbe(ConnectionPools pools) {
    this.orderStorage = pools.orderStorage();
  }

  /** As {@link #probe}, through the connections that store orders; for their writers only. */
  public void write() throws SQLException {
    probe(orderStorage);
  }

  /**
   * Deletes an order alias that cannot exist: a server that is read-only refuses that too.
   *
   * @param pool of the work that waits for the answer
   * @throws SQLException when MySQL cannot be reached, is too slow, or does not write
   */
  public void probe(DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      int before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(AT_ONCE, TIMEOUT_MS);
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("DELETE FROM order_alias WHERE order_id = 0");
      }
      connection.setNetworkTimeout(AT_ONCE, before);
    }
  }
}
