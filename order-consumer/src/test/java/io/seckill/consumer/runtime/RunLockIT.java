package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.DataAccessException;

/** The lock has one holder at a time, and a holder that falls silent loses it. */
@ExtendWith(TestServers.class)
class RunLockIT {

  private static final Duration LONG = Duration.ofMinutes(10);
  private static final long POOLS_WAIT_TIMEOUT = 15;

  private final MySqlDatabase database = TestServers.mysql().newDatabase();

  @Test
  void excludesOthersUntilItIsClosed() throws SQLException {
    try (HikariDataSource pool = pool(2)) {
      RunLock lock = RunLock.take(pool, "run", LONG).orElseThrow();
      assertThat(lock.isHeld()).isTrue();
      assertThat(RunLock.take(pool, "run", LONG)).isEmpty();

      lock.close();

      Optional<RunLock> next = RunLock.take(pool, "run", LONG);
      assertThat(next).isPresent();
      next.get().close();
    }
  }

  /**
   * As MySQL sees a host that has lost its power: the connection stays open, and nothing arrives.
   */
  @Test
  void passesToAnotherWhenItsHolderFallsSilent() throws SQLException {
    try (HikariDataSource dead = pool(1);
        HikariDataSource alive = pool(1);
        RunLock silent = RunLock.take(dead, "run", Duration.ofSeconds(1)).orElseThrow()) {
      RunLock next =
          eventually()
              .until(() -> RunLock.take(alive, "run", LONG), Optional::isPresent)
              .orElseThrow();

      assertThat(silent.isHeld()).isFalse();
      next.close();
    }
  }

  /** With the statement of docs/operations.md. */
  @Test
  void passesToAnotherWhenAnOperatorEndsTheConnectionOfItsHolder() throws SQLException {
    try (HikariDataSource holder = pool(1);
        HikariDataSource other = pool(1);
        RunLock lock = RunLock.take(holder, "reconcile-all", LONG).orElseThrow()) {
      killHolder(other);

      RunLock next =
          eventually()
              .until(() -> RunLock.take(other, "reconcile-all", LONG), Optional::isPresent)
              .orElseThrow();

      assertThat(lock.isHeld()).isFalse();
      next.close();
    }
  }

  /** Each check is a statement, and a leader looks at thousands of sales. */
  @Test
  void aLeaderAsksForItsLockOnceASecond() throws SQLException {
    AtomicLong now = new AtomicLong();
    try (HikariDataSource holder = pool(1);
        HikariDataSource other = pool(1);
        Leadership leader = new Leadership(holder, "reconcile-all", LONG, now::get)) {
      assertThat(leader.isHeldLately()).isFalse();
      eventually().until(leader::take);
      assertThat(leader.isHeldLately()).isTrue();
      killHolder(other);
      eventually()
          .until(() -> RunLock.take(other, "reconcile-all", LONG), Optional::isPresent)
          .orElseThrow()
          .close();

      now.addAndGet(Duration.ofMillis(999).toNanos());
      assertThat(leader.isHeldLately()).isTrue();
      now.addAndGet(Duration.ofMillis(1).toNanos());
      assertThat(leader.isHeldLately()).isFalse();
    }
  }

  private static void killHolder(HikariDataSource other) throws SQLException {
    try (Connection operator = other.getConnection();
        Statement kill = operator.createStatement()) {
      long id =
          Rows.number(
              operator,
              "SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(),256),16),'reconcile-all'))");
      kill.execute("KILL " + id);
    }
  }

  @Test
  void givesTheConnectionBackAsItWas() throws SQLException {
    try (HikariDataSource pool = pool(1)) {
      RunLock.take(pool, "run", Duration.ofSeconds(77)).orElseThrow().close();

      assertThat(waitTimeout(pool)).isEqualTo(POOLS_WAIT_TIMEOUT);
    }
  }

  /** It stays up, with its connections; another process takes the lock of its successor. */
  @Test
  void isNotHeldOnAPrimaryThatWasDemoted() throws SQLException {
    try (MySqlServer server = MySqlServer.start();
        HikariDataSource pool = pool(server.newDatabase(), 1)) {
      RunLock lock = RunLock.take(pool, "run", LONG).orElseThrow();
      server.setReadOnly(true);

      assertThat(lock.isHeld()).isFalse();
      lock.close();
      long before = connectionId(pool);
      assertThatThrownBy(() -> RunLock.take(pool, "run", LONG))
          .isInstanceOf(DataAccessException.class);
      assertThat(connectionId(pool)).as("only a new one finds the successor").isNotEqualTo(before);

      server.setReadOnly(false);
      RunLock.take(pool, "run", LONG).orElseThrow().close();
    }
  }

  private HikariDataSource pool(int connections) {
    return pool(database, connections);
  }

  private static HikariDataSource pool(MySqlDatabase database, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.jdbcUrl());
    config.setUsername(database.username());
    config.setPassword(database.password());
    config.setMaximumPoolSize(connections);
    config.setConnectionInitSql("SET SESSION wait_timeout = " + POOLS_WAIT_TIMEOUT);
    return new HikariDataSource(config);
  }

  private static long connectionId(HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return Rows.number(connection, "SELECT CONNECTION_ID()");
    }
  }

  private static long waitTimeout(HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return Rows.number(connection, "SELECT @@SESSION.wait_timeout");
    }
  }
}
