package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A migration whose statement cannot get its locks, on a clock of the test. */
class MigrationDataSourceTest {

  private static final String BUILD = "ALTER TABLE orders ADD KEY ix_new (user_id)";

  private final SQLException lockWait = new SQLException("Lock wait", "HY000", 1205);
  private final AtomicLong nanos = new AtomicLong();
  private int attempts;

  /** It waits for its locks at its end, and a wait in vain undoes the work of minutes. */
  @Test
  void theWorkOfAnIndexBuildIsNoWait() throws SQLException {
    try (Connection connection = connection(Duration.ofMinutes(40), 4);
        Statement statement = connection.createStatement()) {
      statement.execute(BUILD);
    }

    assertThat(attempts).isEqualTo(4);
  }

  @Test
  void aMigrationWaitsForAnHour() throws SQLException {
    try (Connection connection = connection(Duration.ofSeconds(1), Integer.MAX_VALUE);
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute(BUILD)).isSameAs(lockWait);
    }

    assertThat(Duration.ofNanos(nanos.get()))
        .isBetween(Duration.ofHours(1), Duration.ofMinutes(61));
  }

  /**
   * @param attempt duration of each attempt
   * @param successful number of the attempt that gets its locks
   */
  private Connection connection(Duration attempt, int successful) throws SQLException {
    Statement statement =
        fake(
            Statement.class,
            (proxy, method, arguments) -> {
              if (arguments != null && BUILD.equals(arguments[0])) {
                nanos.addAndGet(attempt.toNanos());
                if (++attempts < successful) {
                  throw lockWait;
                }
              }
              return method.getReturnType() == boolean.class ? false : null;
            });
    Connection connection =
        fake(
            Connection.class,
            (proxy, method, arguments) ->
                method.getReturnType() == Statement.class ? statement : null);
    DataSource database = fake(DataSource.class, (proxy, method, arguments) -> connection);
    return new MigrationDataSource(database, nanos::get, nanos::addAndGet).getConnection();
  }

  private static <T> T fake(Class<T> type, InvocationHandler calls) {
    return type.cast(
        Proxy.newProxyInstance(
            MigrationDataSourceTest.class.getClassLoader(), new Class<?>[] {type}, calls));
  }
}
