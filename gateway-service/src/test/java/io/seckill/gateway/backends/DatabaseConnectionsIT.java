package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.support.jdbc.PrimaryDriver;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class DatabaseConnectionsIT {

  private final HikariDataSource pool =
      GatewayStage.shared().gateway().bean(HikariDataSource.class);

  @Test
  void writeNothing() throws SQLException {
    try (Connection connection = pool.getConnection()) {
      assertThat(connection.isReadOnly()).isTrue();
    }
  }

  @Test
  void areToThePrimaryWhereverThatIs() {
    assertThat(pool.getDriverClassName()).isEqualTo(PrimaryDriver.class.getName());
  }

  @Test
  void waitForNoAnswerWithoutEnd() throws SQLException {
    try (HikariDataSource plain = new HikariDataSource()) {
      pool.copyStateTo(plain);
      plain.setPoolName("plain");
      plain.setJdbcUrl(pool.getJdbcUrl().replace("&connectTimeout=2000&socketTimeout=10000", ""));
      assertThat(plain.getJdbcUrl()).doesNotContain("Timeout");
      try (Connection connection = plain.getConnection()) {
        assertThat(connection.getNetworkTimeout()).as("ms").isEqualTo(10_000);
      }
    }
  }

  @Test
  void doNotStayWhereThePrimaryWas() {
    assertThat(pool.getMaxLifetime()).as("ms").isEqualTo(30_000);
  }

  @Test
  void areOpenedByTheCallersThatNeedThem() {
    assertThat(pool.getMinimumIdle()).as("kept by a thread that backs off").isZero();
  }
}
