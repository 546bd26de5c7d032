package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A migration whose statements fail, on a clock of the test. */
class MigrationDataSourceTest {

  private static final String BUILD = "ALTER TABLE orders ADD KEY ix_new (user_id)";

  private static final String CREATE = "-- New.\nCREATE TABLE added (\n id INT)";
  private static final String INSERT = "-- Its row.\nINSERT INTO added VALUES (1)";

  private final SQLException lockWait = new SQLException("Lock wait", "HY000", 1205);
  private final AtomicLong nanos = new AtomicLong();
  private final Map<String, SQLException> failures = new HashMap<>();
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

  @ParameterizedTest
  @ValueSource(ints = {1050, 1060, 1061, 1826, 3822})
  void whatAnInterruptedMigrationHasDoneIsLeftOut(int error) throws SQLException {
    failures.put(CREATE, exists(error));
    failures.put(INSERT, exists(1062));
    try (Connection connection = connection(Duration.ZERO, 1);
        Statement statement = connection.createStatement()) {
      assertThat(statement.execute(CREATE)).isFalse();
      assertThat(statement.execute(INSERT)).isFalse();
      statement.execute(BUILD);
    }

    assertThat(attempts).isEqualTo(1);
  }

  /** It has executed the first statements only. */
  @ParameterizedTest
  @ValueSource(strings = {CREATE, BUILD})
  void whatExistsBeforeItsTimeIsAnError(String first) throws SQLException {
    String second = "CREATE INDEX ix_other ON orders (sku_id)";
    failures.put(second, exists(1061));
    failures.put(INSERT, exists(1062));
    try (Connection connection = connection(Duration.ZERO, 1);
        Statement statement = connection.createStatement()) {
      statement.execute(first);
      assertThatThrownBy(() -> statement.execute(second)).isSameAs(failures.get(second));
      assertThatThrownBy(() -> statement.execute(INSERT)).isSameAs(failures.get(INSERT));
    }
  }

  @Test
  void aStatementThatMaySucceedTwiceSaysNothingOfTheNext() throws SQLException {
    String replace = "-- ADD\nALTER TABLE orders DROP INDEX ix_new, ADD INDEX ix_new (sku_id)";
    failures.put(BUILD, exists(1061));
    try (Connection connection = connection(Duration.ZERO, 1);
        Statement statement = connection.createStatement()) {
      statement.execute(replace);
      statement.execute("-- ADD\nALTER TABLE orders MODIFY seq BIGINT NOT NULL");
      statement.execute("UPDATE orders SET seq = 1");
      assertThat(statement.execute(BUILD)).isFalse();
    }
  }

  @Test
  void equalRowsOfAnotherTableAreAnError() throws SQLException {
    String unique = "CREATE UNIQUE INDEX ix_unique ON orders (seq)";
    failures.put(INSERT, exists(1062));
    failures.put(CREATE, exists(1050));
    failures.put(unique, exists(1062));
    try (Connection connection = connection(Duration.ZERO, 1);
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute(INSERT)).isSameAs(failures.get(INSERT));
      assertThat(statement.execute(CREATE)).isFalse();
      assertThatThrownBy(() -> statement.execute(unique)).isSameAs(failures.get(unique));
    }
  }

  private static SQLException exists(int error) {
    return new SQLException("exists", "42S01", error);
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
              SQLException failure = arguments == null ? null : failures.get(arguments[0]);
              if (failure != null) {
                throw failure;
              }
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
