package io.seckill.consumer.runtime;

import java.time.Duration;
import java.util.function.Function;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/** Consistent snapshots of MySQL for long reads, each in a transaction. Thread-safe. */
@Component
public class Snapshots {

  /**
   * Longer than Redis takes to return the buckets of one part, or to be loaded with them, and than
   * a COMMIT of another transaction waits for a standby.
   */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private final JdbcOperations jdbc;
  private final TransactionTemplate snapshot;

  Snapshots(ConnectionPools pools) {
    DataSource pool = pools.reconciliation();
    JdbcTransactionManager manager = new JdbcTransactionManager(pool);
    // The work also queries another pool: each query must return its connection there at once.
    manager.setTransactionSynchronization(JdbcTransactionManager.SYNCHRONIZATION_NEVER);
    this.jdbc = new JdbcTemplate(pool);
    this.snapshot = new TransactionTemplate(manager);
    this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
  }

  /**
   * @param work uses the snapshot only until it returns
   * @throws DataAccessException when MySQL is unavailable
   * @throws TransactionException as well
   */
  public <T> T read(Function<JdbcOperations, T> work) {
    return snapshot.execute(
        tx -> {
          WaitTimeout silence = WaitTimeout.set(JdbcClient.create(jdbc), SILENCE);
          try {
            return work.apply(jdbc);
          } finally {
            silence.restore();
          }
        });
  }
}
