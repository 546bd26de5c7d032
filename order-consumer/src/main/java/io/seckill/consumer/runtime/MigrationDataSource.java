package io.seckill.consumer.runtime;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
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

  private final LongSupplier nanoTime;
  private final LongConsumer sleep;

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
    long waited = 0;
    while (true) {
      long start = nanoTime.getAsLong();
      try {
        return call(statement, method, arguments);
      } catch (SQLException e) {
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
