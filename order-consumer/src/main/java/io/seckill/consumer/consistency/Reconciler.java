package io.seckill.consumer.consistency;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.consistency.SaleReconciliation.Found;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Reconciles a SKU. At any time at most one run is active for it in all processes, and at most
 * {@value ConnectionPools#RECONCILIATION_RUNS} runs in this process.
 */
@Component
class Reconciler {

  private static final Logger log = LoggerFactory.getLogger(Reconciler.class);

  private final DataSource dataSource;
  private final SaleReconciliation reconciliation;
  private final ReconciliationTable table;
  private final Duration lockSilence;
  private final Semaphore runs = new Semaphore(ConnectionPools.RECONCILIATION_RUNS);
  private final Clock clock;
  private final ReconciliationMeters meters;

  Reconciler(
      ConnectionPools pools,
      SaleReconciliation reconciliation,
      ReconciliationTable table,
      ReconciliationProperties settings,
      Clock clock,
      MeterRegistry meters) {
    this.dataSource = pools.reconciliation();
    this.reconciliation = reconciliation;
    this.table = table;
    this.lockSilence = settings.lockSilence();
    this.clock = clock;
    this.meters = new ReconciliationMeters(meters);
  }

  /**
   * What a run may do.
   *
   * @param dryRun only report the differences
   * @param mayRebuild rebuild a sale that Redis has lost
   * @param startedBy an operator, or "schedule"
   */
  record Order(boolean dryRun, boolean mayRebuild, String startedBy) {}

  /**
   * @return what was found and done; stored as a row if there was something, or an operator asked
   * @throws ProblemException 404 UNKNOWN_SKU, 409 RECONCILIATION_RUNNING, 503 when MySQL is
   *     unavailable, or this process reconciles as many other SKUs as it may
   */
  Report run(long skuId, Order order) {
    if (!runs.tryAcquire()) {
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "Other SKUs are being reconciled already; send the same request again.");
    }
    try {
      return alone(skuId, order);
    } finally {
      runs.release();
    }
  }

  private Report alone(long skuId, Order order) {
    try (RunLock lock =
        RunLock.take(dataSource, "reconcile-" + skuId, lockSilence)
            .orElseThrow(
                () ->
                    ProblemException.of(
                        ProblemCode.RECONCILIATION_RUNNING,
                        "This SKU is being reconciled already."))) {
      Report report = locked(skuId, order, lock);
      log.debug("{}: {} under {}", report, report.outcome(), lock);
      return report;
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e) == SqlFailure.ROW) {
        throw e; // a defect, not MySQL's absence
      }
      log.warn("sku {}: MySQL is unavailable: {}", skuId, e.toString());
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE, "MySQL or Redis does not answer; send the same request again.");
    }
  }

  private Report locked(long skuId, Order order, RunLock lock) {
    Instant start = clock.instant();
    Found found = reconciliation.run(skuId, order, lock);
    Report report =
        new Report(
            null,
            skuId,
            order.startedBy(),
            order.dryRun(),
            found.outcome(),
            found.detail(),
            found.epoch(),
            Report.count(found.repairs()),
            found.repairs().stream().limit(Report.MOST_SHOWN).toList(),
            start,
            clock.instant());
    meters.count(report.outcome(), found.repairs());
    boolean byOperator = !order.startedBy().equals(Schedule.NAME);
    return byOperator || !found.repairs().isEmpty() ? table.keep(report, found.repairs()) : report;
  }
}
