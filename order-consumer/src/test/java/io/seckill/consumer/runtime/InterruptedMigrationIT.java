package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TestServers;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Migrations that end after each of their statements, and start again. */
@ExtendWith(TestServers.class)
class InterruptedMigrationIT {

  private static final String LAST_BEFORE_ORDER_TOTALS = "16";
  private static final String LATEST = "latest";

  private final DatabaseStartupWait start =
      new DatabaseStartupWait(new MigrationProperties(true), new ServerProperties());

  private MySqlDatabase database;
  private EndingDataSource ending;

  @BeforeEach
  void create(MySqlServer mysql) {
    database = mysql.newDatabase();
    ending = new EndingDataSource(database);
  }

  /** Their statements add columns, create tables and insert rows. */
  @Test
  void aKilledMigrationGoesOnWhereItEnded() {
    start.migrate(flyway("12"));

    assertThat(migrateKilledAfterEachStatement("14")).isEqualTo(8);
    assertThat(database.number("SELECT COUNT(*) FROM fallback")).isOne();
    assertThat(database.number("SELECT COUNT(*) FROM order_id_block")).isOne();
  }

  @Tag("proof")
  @Test
  void everyMigrationGoesOnWhereItWasKilled() {
    migrateKilledAfterEachStatement(LAST_BEFORE_ORDER_TOTALS);
    database.execute(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at)"
            + " VALUES (1, 2, 3, 4, 5, 'r', 'CONFIRMED', 1, 1, NOW(3))");

    migrateKilledAfterEachStatement(LATEST);

    assertThat(database.number("SELECT SUM(orders) FROM order_total")).isOne();
    MySqlDatabase uninterrupted = TestServers.mysql().newDatabase();
    Flyway.configure()
        .dataSource(uninterrupted.jdbcUrl(), uninterrupted.username(), uninterrupted.password())
        .load()
        .migrate();
    assertThat(columnsAndIndexes(database)).isEqualTo(columnsAndIndexes(uninterrupted));
  }

  /** Flyway marks it, and would refuse to start from then on. */
  @Test
  void aFailedMigrationRunsAgainUnlessItIsOfANewerRelease() {
    start.migrate(flyway("21"));
    ending.ends = true;
    assertThatThrownBy(() -> start.migrate(flyway("22"))).isInstanceOf(FlywayException.class);
    assertThat(failed()).containsExactly("22");
    ending.reset();
    ending.ends = false;

    start.migrate(flyway(LATEST));

    assertThat(failed()).isEmpty();
    database.execute(
        "INSERT INTO flyway_schema_history SELECT installed_rank + 1, '999', description, type,"
            + " script, checksum, installed_by, installed_on, execution_time, FALSE"
            + " FROM flyway_schema_history ORDER BY installed_rank DESC LIMIT 1");

    start.migrate(flyway(LATEST));

    assertThat(failed()).containsExactly("999");
  }

  private List<String> failed() {
    return database.rows(
        "SELECT version FROM flyway_schema_history WHERE NOT success", row -> row.getString(1));
  }

  /** Returns the number of attempts that were killed. */
  private int migrateKilledAfterEachStatement(String target) {
    ending.ends = true;
    ending.kills = true;
    int killed = 0;
    while (true) {
      try {
        start.migrate(flyway(target));
        return killed;
      } catch (RuntimeException e) {
        if (!ending.ended) {
          throw e;
        }
        ending.reset();
        killed++;
      }
    }
  }

  private Flyway flyway(String target) {
    return Flyway.configure().dataSource(ending).target(target).load();
  }

  private static List<String> columnsAndIndexes(MySqlDatabase database) {
    List<String> all =
        new ArrayList<>(
            database.rows(
                "SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable,"
                    + " column_default, column_comment) FROM information_schema.columns"
                    + " WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position",
                row -> row.getString(1)));
    all.addAll(
        database.rows(
            "SELECT CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name)"
                + " FROM information_schema.statistics WHERE table_schema = DATABASE()"
                + " ORDER BY table_name, index_name, seq_in_index",
            row -> row.getString(1)));
    return all;
  }

  /** Its user ends after each statement of a migration that it has not executed before. */
  private static final class EndingDataSource extends DelegatingDataSource {

    private final Set<String> executed = new HashSet<>();
    private final List<Connection> open = new ArrayList<>();

    private boolean ends;

    /** Whether it executes nothing else, as a killed process; otherwise the statement fails. */
    private boolean kills;

    private boolean ended;

    EndingDataSource(MySqlDatabase database) {
      super(
          new DriverManagerDataSource(
              database.jdbcUrl(), database.username(), database.password()));
    }

    /** Lets MySQL see the end of the process that was killed, and another one start. */
    void reset() {
      for (Connection connection : open) {
        try {
          connection.close();
        } catch (SQLException e) {
          throw new IllegalStateException(e);
        }
      }
      open.clear();
      ended = false;
    }

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      open.add(connection);
      return proxy(
          Connection.class,
          (proxy, method, arguments) -> {
            Object result = call(connection, method, arguments);
            return method.getReturnType() == Statement.class
                ? statement(connection, (Statement) result)
                : result;
          });
    }

    private Statement statement(Connection connection, Statement statement) {
      return proxy(
          Statement.class,
          (proxy, method, arguments) -> {
            Object result = call(statement, method, arguments);
            if (ends && method.getName().equals("execute") && isNew((String) arguments[0])) {
              if (!connection.getAutoCommit()) {
                connection.commit(); // as the next statement, or the end, of the migration does
              }
              ended = true;
              throw new SQLException("ended");
            }
            return result;
          });
    }

    private boolean isNew(String sql) {
      return sql.replaceAll("--[^\n]*\n\\s*", "")
              .matches("(?s)(CREATE (TABLE|INDEX)|ALTER|INSERT|UPDATE)\\b.*")
          && !sql.contains("flyway_schema_history")
          && executed.add(sql);
    }

    private @Nullable Object call(
        Object target, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
      if (ended && kills && !method.getName().equals("close")) {
        throw new SQLException("killed");
      }
      try {
        return method.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw e.getTargetException();
      }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler calls) {
      return type.cast(
          Proxy.newProxyInstance(
              InterruptedMigrationIT.class.getClassLoader(), new Class<?>[] {type}, calls));
    }
  }
}
