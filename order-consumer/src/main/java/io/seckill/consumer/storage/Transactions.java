package io.seckill.consumer.storage;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RetryingTransactions;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs work in a transaction of its own, and repeats it after deadlocks and lock waits, unless it
 * is to run {@link #once}. Every failure rolls back the whole transaction.
 */
public final class Transactions {

  /** Some six lock waits; after that MySQL counts as unavailable. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final TransactionOperations transactions;
  private final JdbcOperations jdbc;

  private Transactions(TransactionTemplate transactions, DataSource pool, MeterRegistry meters) {
    this(new RetryingTransactions(transactions, PATIENCE, meters), pool);
  }

  private Transactions(TransactionOperations transactions, DataSource pool) {
    this.transactions = transactions;
    this.jdbc = new JdbcTemplate(pool);
  }

  /** On the connections that store orders. */
  static Transactions ofStorage(ConnectionPools pools, MeterRegistry meters) {
    DataSource pool = pools.orderStorage();
    return new Transactions(new TransactionTemplate(new StorageTransactions(pool)), pool, meters);
  }

  /** For strong sales and wallets: nothing is repeated, because a conflict needs new reads. */
  public static Transactions once(DataSource pool) {
    return new Transactions(new TransactionTemplate(new StorageTransactions(pool)), pool);
  }

  /**
   * On a connection of its own, also inside a transaction of the caller; {@code manager} is that of
   * the pool.
   */
  static Transactions apart(
      PlatformTransactionManager manager, DataSource pool, MeterRegistry meters) {
    TransactionTemplate apart = new TransactionTemplate(manager);
    apart.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    return new Transactions(apart, pool, meters);
  }

  public interface Work<T> {
    /** Returns null to roll everything back. */
    @Nullable T in(JdbcOperations transaction);
  }

  /**
   * @return the result of the work; empty when it was rolled back
   * @throws DataAccessException after a rollback; or from the COMMIT, whose outcome is then unknown
   * @throws TransactionException as well, and when there is no connection
   */
  public <T> Optional<T> run(Work<T> work) {
    return transactions.execute(
        tx -> {
          Optional<T> result = Optional.ofNullable(work.in(jdbc));
          if (result.isEmpty()) {
            tx.setRollbackOnly();
          }
          return result;
        });
  }
}
