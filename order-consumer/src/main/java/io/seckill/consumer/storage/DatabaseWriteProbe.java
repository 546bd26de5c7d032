package io.seckill.consumer.storage;

import io.seckill.consumer.runtime.ConnectionPools;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

/** Checks whether MySQL accepts writes, without changing data. */
@Component
public class DatabaseWriteProbe {

  /** Shorter than for a batch: a server that stays frozen must not block each probe as long. */
  private static final int TIMEOUT_MS = 1_500;

  private static final Executor AT_ONCE = Runnable::run;

  private final DataSource orderStorage;

  DatabaseWriteProbe(ConnectionPools pools) {
    this.orderStorage = pools.orderStorage();
  }

  /**
   * As {@link #probe}, through the connections that store orders; only their writers call it.
   *
   * @param patient whether MySQL may take as long as for a batch
   */
  public void write(boolean patient) throws SQLException {
    if (patient) {
      try (Connection connection = orderStorage.getConnection()) {
        write(connection);
      }
    } else {
      probe(orderStorage);
    }
  }

  /**
   * Deletes an order alias that cannot exist: a server that is read-only refuses that too.
   *
   * @param pool connection pool of the work that waits for the result
   * @throws SQLException when MySQL cannot be reached, is too slow, or does not accept writes
   */
  public void probe(DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      int before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(AT_ONCE, TIMEOUT_MS);
      write(connection);
      connection.setNetworkTimeout(AT_ONCE, before);
    }
  }

  private static void write(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("DELETE FROM order_alias WHERE order_id = 0");
    }
  }
}
