package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;

@ExtendWith(TestServers.class)
class SessionsIT {

  /**
   * Times are UTC on a server in Tokyo, too. MySQL releases the locks of a process that hangs
   * within 15 seconds, and nobody waits longer than three for a row, or ten for an answer.
   */
  @Test
  void everyPoolSetsItsSessionsWhateverTheServerDoes() throws IOException, SQLException {
    MySqlDatabase database = TestServers.mysql().newDatabase();
    HikariDataSource settings = shipped();
    settings.setUsername(database.username());
    settings.setPassword(database.password());
    settings.setJdbcUrl(
        database.jdbcUrl().replace("&connectTimeout=2000&socketTimeout=10000", "")
            + "&sessionVariables=time_zone='%2B09:00',wait_timeout=28800,"
            + "innodb_lock_wait_timeout=50");
    assertThat(settings.getJdbcUrl()).doesNotContain("Timeout");
    ConnectionPools pools = new ConnectionPools(settings, new SimpleMeterRegistry());
    try (settings) {
      for (DataSource pool :
          List.of(
              settings,
              pools.orderStorage(),
              pools.strongSales(),
              pools.fallback(),
              pools.reconciliation())) {
        assertThat(session(pool))
            .as(pool.toString())
            .isEqualTo(
                Map.of(
                    "zone", "+00:00",
                    "idle", "15",
                    "reading", "10",
                    "row_lock", "3",
                    "table_lock", "5"));
        assertThat((HikariDataSource) pool)
            .as("gives up connections to a server that is demoted")
            .returns(DemotedServer.class.getName(), HikariDataSource::getExceptionOverrideClassName)
            .returns(30_000L, HikariDataSource::getMaxLifetime);
        try (Connection connection = pool.getConnection()) {
          assertThat(connection.getTransactionIsolation())
              .isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
          assertThat(connection.getNetworkTimeout()).as("ms").isEqualTo(10_000);
        }
      }
    } finally {
      pools.close();
    }
  }

  private static HikariDataSource shipped() throws IOException {
    StandardEnvironment environment = new StandardEnvironment();
    new YamlPropertySourceLoader()
        .load("shipped", new ClassPathResource("application.yml"))
        .forEach(environment.getPropertySources()::addLast);
    HikariDataSource settings =
        Binder.get(environment)
            .bind("spring.datasource.hikari", Bindable.ofInstance(new HikariDataSource()))
            .get();
    settings.setDriverClassName(environment.getProperty("spring.datasource.driver-class-name"));
    return settings;
  }

  private static Map<String, Object> session(DataSource pool) {
    return JdbcClient.create(pool)
        .sql(
            """
            SELECT @@session.time_zone AS zone, CONCAT(@@session.wait_timeout) AS idle,
              CONCAT(@@session.net_read_timeout) AS reading,
              CONCAT(@@session.innodb_lock_wait_timeout) AS row_lock,
              CONCAT(@@session.lock_wait_timeout) AS table_lock
            """)
        .query()
        .singleRow();
  }
}
