package io.seckill.consumer.runtime;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The connections of a migration, which may run while the sale goes on. A statement that changes a
 * table waits for every transaction that has read it, a comparison for example, and everybody who
 * comes after it queues behind it. So each attempt waits for {@link #LOCK_WAIT} only, and is
 * repeated after a pause that lets the others through. A statement that has ended with a lock wait
 * time-out has changed nothing; without the repetition, MySQL would be left between two versions.
 *
 * <p>MySQL commits each statement by itself, and Flyway begins a migration that was interrupted
 * with the first one again: those that the attempt has executed are left out. They are the first
 * ones of the first missing migration, so once a statement succeeds that could not do so twice, one
 * that fails is an error again.
 */
final class MigrationDataSource extends DelegatingDataSource {

  private static final Logger log = LoggerFactory.getLogger(MigrationDataSource.class);

  /** Shorter than any time-out of those who wait behind the statement. */
  private static final Duration LOCK_WAIT = Duration.ofSeconds(1);

  private static final Duration PAUSE = Duration.ofSeconds(3);

  /** For locks, with the pauses. A comparison of the largest sale takes minutes. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  /**
   * A table of a hundred million rows is rewritten meanwhile; the URL's time-out is for queries.
   */
  private static final Duration LONGEST_STATEMENT = Duration.ofHours(24);

  private static final int ER_LOCK_WAIT_TIMEOUT = 1205;
  private static final int ER_DUP_ENTRY = 1062;

  /**
   * A table, column, index or check exists. ER_DUP_CONSTRAINT_NAME (1826) is MariaDB's for a check,
   * ER_CHECK_CONSTRAINT_DUP_NAME (3822) MySQL's, also where its column exists, too.
   */
  private static final Set<Integer> EXISTS = Set.of(1050, 1060, 1061, 1826, 3822);

  /** A statement that fails the second time. One that replaces an index does not. */
  private static final Pattern ONCE =
      Pattern.compile("(?s)CREATE .*|ALTER TABLE (?!.*\\bDROP\\b).*\\bADD\\b.*");

  private static final Pattern INSERT = Pattern.compile("(?s)INSERT INTO .*");

  private static final Pattern COMMENTS = Pattern.compile("--[^\n]*\n\\s*");

  private final LongSupplier nanoTime;
  private final LongConsumer sleep;

  private boolean mayBeDone = true;
  private boolean foundDone;

  MigrationDataSource(DataSource database) {
    this(database, System::nanoTime, Sleeps::nanos);
  }

  /**
   * @param sleep waits for this number of nanoseconds
   */
  MigrationDataSource(DataSource database, LongSupplier nanoTime, LongConsumer sleep) {
    super(database);
    this.nanoTime = nanoTime;
    this.sleep = sleep;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    try (Statement statement = connection.createStatement()) {
      long seconds = LOCK_WAIT.toSeconds();
      statement.execute(
          "SET SESSION lock_wait_timeout = " + seconds + ", innodb_lock_wait_timeout = " + seconds);
      connection.setNetworkTimeout(Runnable::run, (int) LONGEST_STATEMENT.toMillis());
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
    return proxy(Connection.class, connection, this::patient);
  }

  /** A call of a connection's method; a statement that it returns repeats itself. */
  private @Nullable Object patient(
      Object connection, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    Object result = call(connection, method, arguments);
    return result instanceof Statement && method.getReturnType().isInterface()
        ? proxy(method.getReturnType(), result, this::repeated)
        : result;
  }

  /** A call of a statement's method, repeated while it cannot get its locks. */
  private @Nullable Object repeated(
      Object statement, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    // Flyway writes its own rows by prepared statements, whose methods have no arguments.
    String sql =
        method.getName().equals("execute") && arguments != null && arguments[0] instanceof String s
            ? COMMENTS.matcher(s).replaceAll("")
            : "";
    long waited = 0;
    while (true) {
      long start = nanoTime.getAsLong();
      try {
        Object result = call(statement, method, arguments);
        mayBeDone &= !ONCE.matcher(sql).matches();
        return result;
      } catch (SQLException e) {
        if (!sql.isEmpty() && isDone(sql, e)) {
          log.warn("An interrupted migration has done this already: {}", e.getMessage());
          foundDone = true;
          return false;
        }
        // The rest was work, of an index build for example, which waits for its locks at its end.
        waited += Math.min(nanoTime.getAsLong() - start, LOCK_WAIT.toNanos());
        if (!method.getName().startsWith("execute")
            || e.getErrorCode() != ER_LOCK_WAIT_TIMEOUT
            || waited >= LONGEST_WAIT.toNanos()
            || Thread.currentThread().isInterrupted()) {
          throw e;
        }
        log.warn(
            "The migration waits for transactions that use a table; others go first: {}",
            e.getMessage());
        sleep.accept(PAUSE.toNanos());
        waited += PAUSE.toNanos();
      }
    }
  }

  /** Whether an interrupted attempt has executed this statement, which has failed now. */
  private boolean isDone(String sql, SQLException failure) {
    int error = failure.getErrorCode();
    // The rows of an INSERT exist where the same attempt has made their table.
    return mayBeDone
        && (EXISTS.contains(error)
            || (error == ER_DUP_ENTRY && foundDone && INSERT.matcher(sql).matches()));
  }

  private static <T> T proxy(Class<T> type, Object target, Call call) {
    InvocationHandler handler = (proxy, method, arguments) -> call.on(target, method, arguments);
    return type.cast(
        Proxy.newProxyInstance(
            MigrationDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** Handles a call of a method of a proxy. */
  private interface Call {
    @Nullable Object on(Object target, Method method, @Nullable Object @Nullable [] arguments)
        throws Throwable;
  }

  private static @Nullable Object call(
      Object target, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
