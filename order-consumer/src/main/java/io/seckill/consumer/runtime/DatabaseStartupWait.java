package io.seckill.consumer.runtime;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.stereotype.Component;

/**
 * Runs the migration once MySQL accepts writes. Everything that needs MySQL, from the entity
 * manager to the intake, is created after the migration, so delaying it delays the rest: no order
 * is taken from the broker meanwhile, and {@link StartupHealthServer} reports what is missing.
 *
 * <p>Without {@code seckill.migration.enabled} it only checks that somebody else has migrated.
 *
 * <p>It waits only while MySQL is unavailable, also for want of connections or threads. A MySQL
 * that refuses the user, the database or the start checks is a wrong setting, and ends the start.
 */
@Component
final class DatabaseStartupWait implements FlywayMigrationStrategy {

  private static final Logger log = LoggerFactory.getLogger(DatabaseStartupWait.class);

  private static final long FIRST_PAUSE_MS = 100;

  /** With the steps after the wait, intake opens within 5 s of MySQL's return. */
  private static final long LONGEST_PAUSE_MS = 1_000;

  /** The migration reports these better. */
  private static final Set<Integer> WRONG_SETTINGS =
      Set.of(
          1044, // ER_DBACCESS_DENIED_ERROR
          1045, // ER_ACCESS_DENIED_ERROR
          1049, // ER_BAD_DB_ERROR
          1130, // ER_HOST_NOT_PRIVILEGED
          1698); // ER_ACCESS_DENIED_NO_PASSWORD_ERROR

  private final MigrationProperties migration;
  private final ServerProperties server;
  private final CountDownLatch stopRequested = new CountDownLatch(1);

  /** Error number that was logged last; 0 is a broken connection, -1 none. */
  private int loggedError = -1;

  DatabaseStartupWait(MigrationProperties migration, ServerProperties server) {
    this.migration = migration;
    this.server = server;
  }

  private enum DatabaseState {
    WRITABLE,
    UNAVAILABLE,
    READ_ONLY
  }

  @Override
  public void migrate(Flyway flyway) {
    DataSource database = flyway.getConfiguration().getDataSource();
    DatabaseState state = look(database);
    if (state != DatabaseState.WRITABLE) {
      await(database, state);
    }
    if (migration.enabled()) {
      DataSource patient = new MigrationDataSource(database);
      forgetFailures(flyway, patient);
      Flyway.configure(flyway.getConfiguration().getClassLoader())
          .configuration(flyway.getConfiguration())
          .dataSource(patient)
          .load()
          .migrate();
      AppendOnlyEntries.protect(patient);
    } else {
      flyway.validate();
    }
  }

  /**
   * Lets migrations that failed run again, from where they ended; Flyway would refuse that. Its
   * repair would also accept changed files, and forget failures of a newer release.
   */
  private static void forgetFailures(Flyway flyway, DataSource owner) {
    for (MigrationInfo migration : flyway.info().applied()) {
      if (migration.getState() == MigrationState.FAILED) {
        log.warn("Migration {} has failed; it runs again", migration.getVersion());
        forget(migration.getInstalledRank(), owner);
      }
    }
  }

  private static void forget(int rank, DataSource owner) {
    try (Connection connection = owner.getConnection();
        PreparedStatement delete =
            connection.prepareStatement(
                "DELETE FROM flyway_schema_history WHERE installed_rank = ? AND NOT success")) {
      delete.setInt(1, rank);
      delete.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException("a failed migration cannot be repeated", e);
    }
  }

  /** Throws IllegalStateException when the process is asked to stop meanwhile. */
  private void await(DataSource database, DatabaseState found) {
    long start = System.nanoTime();
    // Spring's own shutdown hook would wait until the start has ended.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(stopRequested::countDown, "stop-waiting-for-mysql"));
    try (StartupHealthServer room = StartupHealthServer.open(server)) {
      DatabaseState state = found;
      DatabaseState logged = DatabaseState.WRITABLE;
      for (int look = 0; state != DatabaseState.WRITABLE; look++) {
        if (state != logged) {
          log.warn("MySQL is {}; starting once it takes writes, see {}", state, room);
          logged = state;
        }
        pause(look);
        state = look(database);
      }
    }
    log.info("MySQL is WRITABLE after {}", Duration.ofNanos(System.nanoTime() - start));
  }

  private void pause(int look) {
    long pauseMs = Sleeps.jitteredMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, look);
    try {
      if (stopRequested.await(pauseMs, TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("stopped while waiting for MySQL");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for MySQL", e);
    }
  }

  private DatabaseState look(DataSource database) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery("SELECT @@global.read_only")) {
      return answer.next() && answer.getBoolean(1)
          ? DatabaseState.READ_ONLY
          : DatabaseState.WRITABLE;
    } catch (SQLException e) {
      int error = e.getErrorCode();
      if (WRONG_SETTINGS.contains(error)) {
        return DatabaseState.WRITABLE;
      }
      if (error != loggedError) {
        log.warn("MySQL cannot be used: error {}: {}", error, e.getMessage());
        loggedError = error;
      }
      return DatabaseState.UNAVAILABLE;
    }
  }

  /**
   * Makes MySQL refuse every change of a row of {@code wallet_entry}, by all users: a grant for all
   * tables cannot leave one out. This is no migration, because a server with a binary log lets the
   * owner of the tables create a trigger only with {@code log_bin_trust_function_creators}: where
   * that is off the books are kept as well, since no statement of the product changes an entry.
   */
  static final class AppendOnlyEntries {

    private static final Logger log = LoggerFactory.getLogger(AppendOnlyEntries.class);

    private static final ClassPathResource TRIGGERS =
        new ClassPathResource("db/wallet_entry_triggers.sql");

    private AppendOnlyEntries() {}

    /** Creates the triggers that are missing, on connections of the user who owns the tables. */
    static void protect(DataSource owner) {
      try (Connection connection = owner.getConnection()) {
        if (!areProtected(connection)) {
          ScriptUtils.executeSqlScript(connection, TRIGGERS);
        }
      } catch (SQLException | ScriptException e) {
        log.warn(
            "MySQL does not protect wallet_entry from changes by hand; set"
                + " log_bin_trust_function_creators, and start again",
            e);
      }
    }

    private static boolean areProtected(Connection connection) throws SQLException {
      try (Statement statement = connection.createStatement();
          ResultSet triggers = statement.executeQuery("SHOW TRIGGERS LIKE 'wallet_entry'")) {
        int found = 0;
        while (triggers.next()) {
          found++;
        }
        return found > 1; // for UPDATE and for DELETE
      }
    }
  }
}
