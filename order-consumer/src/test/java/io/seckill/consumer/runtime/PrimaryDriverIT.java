package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TestServers;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers; one is read-only, as a standby is. */
@Tag("proof")
@ExtendWith(TestServers.class)
class PrimaryDriverIT {

  private static final long SKU = 33;

  private static MySqlServer one;
  private static MySqlServer other;
  private static MySqlDatabase database;

  @BeforeAll
  static void start() {
    one = MySqlServer.start();
    other = MySqlServer.start();
    database = one.newDatabase();
    other.recreate(database);
  }

  @AfterAll
  static void stop() {
    one.close();
    other.close();
  }

  @AfterEach
  void bothAcceptWrites() {
    one.setReadOnly(false);
    other.setReadOnly(false);
  }

  /** The standby has no tables here: a statement that reached it would fail. */
  @Test
  void aConsumerLeavesAServerThatWasDemoted() throws Exception {
    other.setReadOnly(true);
    String url = database.jdbcUrlOf(other.port(), one.port());
    try (TestConsumer consumer =
            TestConsumer.start(
                database, Map.of("spring.datasource.url", url, "spring.flyway.url", url));
        OrderFlood flood = new OrderFlood(consumer.vhost())) {
      new Sales(consumer).open(SKU, "LIMITED", 5, 1_000);
      flood.publish(List.of(OrderFlood.order(SKU, PurchasePolicy.LIMITED, 1, 1)));
      new StoredInvariants(consumer.sql()).awaitOrders(SKU, 1);

      one.setReadOnly(true);
      other.setReadOnly(false);

      for (DataSource pool :
          List.of(
              consumer.bean(DataSource.class),
              consumer.bean(ConnectionPools.class).orderStorage(),
              consumer.bean(ConnectionPools.class).reconciliation())) {
        eventually()
            .ignoreExceptions()
            .until(
                () -> {
                  write(pool);
                  return portOf(pool.getConnection()) == other.port();
                });
      }
    }
  }

  /** Does what a writer does, and may fail. */
  private static void write(DataSource pool) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("DELETE FROM order_alias WHERE order_id = 0");
    } catch (SQLException e) {
      // read-only; or the other server, which has no tables
    }
  }

  /** The port of this machine, which is not the server's own where servers are containers. */
  private static int portOf(Connection connection) throws SQLException {
    try (connection) {
      return URI.create(connection.getMetaData().getURL().substring("jdbc:".length())).getPort();
    }
  }
}
