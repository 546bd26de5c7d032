package io.seckill.consumer.fallback;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RetryingTransactions;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * MySQL on connections that no other work uses: cancels and sweeps that hold all of theirs delay no
 * heartbeat and no step of a fallback.
 */
@Component
class FallbackDatabase {

  /** As for the internal port: a caller that waited 3 s for a lock is not kept waiting again. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final JdbcClient jdbc;
  private final TransactionOperations transactions;

  FallbackDatabase(ConnectionPools pools, MeterRegistry meters) {
    DataSource pool = pools.fallback();
    this.jdbc = JdbcClient.create(pool);
    this.transactions =
        new RetryingTransactions(
            new TransactionTemplate(new JdbcTransactionManager(pool)), PATIENCE, meters);
  }

  JdbcClient jdbc() {
    return jdbc;
  }

  /** Transactions of {@link #jdbc}. */
  TransactionOperations transactions() {
    return transactions;
  }
}
