package io.seckill.consumer.runtime;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import jakarta.annotation.PreDestroy;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

/**
 * The connection pools beside Spring Boot's own, which serves the sweeps and the internal port.
 * They share its settings, {@code spring.datasource.*}, except for name and size. The pools are
 * separate so that the work of one never waits for a connection that the work of another holds.
 */
@Component
public class ConnectionPools {

  /** Reconciliation runs for which operators wait, at the same time, each of a different SKU. */
  public static final int RECONCILIATION_RUNS = 2;

  /**
   * A comparison and a rebuild of the schedule, a comparison of the daily audit, and the return of
   * a sale from a fallback.
   */
  private static final int BACKGROUND_RUNS = 4;

  /** Sales that preheats load at the same time; each needs a connection for its snapshot. */
  public static final int PREHEATS = 2;

  /** Audits for which operators wait; each needs a connection for its count. */
  public static final int AUDITS = 1;

  /** Batches of promised orders that gateways transfer at the same time. */
  public static final int PROMISE_TRANSFERS = 2;

  /** Batches of purchases of strong sales that MySQL decides at the same time. */
  public static final int STRONG_BATCHES = 4;

  /** For the heartbeats of gateways, three periodic tasks, and operators' calls. */
  private static final int FALLBACK = 6;

  /** A run needs one connection for its lock and one for its snapshot. */
  private static final int CONNECTIONS_OF_A_RUN = 2;

  /**
   * The locks of the scheduled reconciliation, the moves of units between shards, the daily audit,
   * the archives and the check of the wallets; and the snapshot of that check.
   */
  private static final int PERIODIC_TASKS = 6;

  private final HikariDataSource orderStorage;
  private final HikariDataSource strongSales;
  private final HikariDataSource fallback;
  private final HikariDataSource reconciliation;

  ConnectionPools(HikariDataSource settings, MeterRegistry meters) {
    this.orderStorage =
        pool(settings, "order-storage", BrokerTopology.ORDER_QUEUES + PROMISE_TRANSFERS, meters);
    // Only transactions use it: saves two round trips for each of them.
    this.orderStorage.setAutoCommit(false);
    this.strongSales = pool(settings, "strong-sales", STRONG_BATCHES, meters);
    this.strongSales.setAutoCommit(false);
    this.fallback = pool(settings, "fallback", FALLBACK, meters);
    this.reconciliation =
        pool(
            settings,
            "reconciliation",
            PERIODIC_TASKS
                + (RECONCILIATION_RUNS + BACKGROUND_RUNS) * CONNECTIONS_OF_A_RUN
                + PREHEATS
                + AUDITS,
            meters);
  }

  /** The pool connects when the first connection is requested. */
  private static HikariDataSource pool(
      HikariDataSource settings, String name, int connections, MeterRegistry meters) {
    HikariDataSource pool = new HikariDataSource();
    settings.copyStateTo(pool);
    pool.setPoolName(name);
    pool.setMaximumPoolSize(connections);
    pool.setMetricsTrackerFactory(new MicrometerMetricsTrackerFactory(meters));
    return pool;
  }

  /**
   * Pool for storing the orders of the queues: one connection for the writer of each queue, and
   * those for orders that gateways transfer.
   */
  public DataSource orderStorage() {
    return orderStorage;
  }

  public DataSource strongSales() {
    return strongSales;
  }

  /** Pool for the heartbeats of gateways and for beginning and ending a fallback. */
  public DataSource fallback() {
    return fallback;
  }

  /** Pool for the locks of periodic tasks, and for reconciliation runs, preheats and audits. */
  public DataSource reconciliation() {
    return reconciliation;
  }

  @PreDestroy
  void close() {
    orderStorage.close();
    strongSales.close();
    fallback.close();
    reconciliation.close();
  }
}
