package io.seckill.consumer.reconciliation;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.fallback.SaleReturn;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Reconciles a SKU. At any time at most one run is active for it in all processes, and in this
 * process at most {@value ConnectionPools#RECONCILIATION_RUNS} for which operators wait. Those of
 * the periodic tasks are not counted: neither they nor operators keep the others waiting.
 */
@Component
public class Reconciler implements SaleReturn {

  private static final Logger log = LoggerFactory.getLogger(Reconciler.class);

  /** Starter of the runs at the end of a fallback. */
  static final String FALLBACK = "fallback";

  private final DataSource dataSource;
  private final SaleReconciliation reconciliation;
  private final ReconciliationTable table;
  private final Duration lockSilence;
  private final ConnectionShare runs =
      new ConnectionShare(ConnectionPools.RECONCILIATION_RUNS, Duration.ZERO);
  private final Clock clock;
  private final MeterRegistry meters;

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
    this.meters = meters;
    // Every tag value from the start, so that an alert sees the first increment.
    for (RunOutcome outcome : RunOutcome.values()) {
      ended(outcome);
    }
    for (RepairKind kind : RepairKind.values()) {
      counter(kind);
    }
  }

  /**
   * The order to run, and its limits.
   *
   * @param dryRun only report the differences
   * @param mayRebuild rebuild a sale that Redis has lost
   * @param startedBy an operator, "schedule" or "fallback"
   * @param stepEnds called after each page of a comparison; may wait
   * @param isWaitedFor by an operator; else the only thread of a periodic task runs it
   */
  record Order(
      boolean dryRun,
      boolean mayRebuild,
      String startedBy,
      Runnable stepEnds,
      boolean isWaitedFor) {

    Order(boolean dryRun, boolean mayRebuild, String startedBy) {
      this(dryRun, mayRebuild, startedBy, () -> {}, true);
    }

    static Order inBackground(boolean dryRun, Runnable stepEnds) {
      return new Order(dryRun, false, Schedule.NAME, stepEnds, false);
    }

    /** Shoppers wait until Redis has the sale again, and a comparison may take an hour. */
    static Order rebuildInBackground(String startedBy) {
      return new Order(false, true, startedBy, () -> {}, false);
    }
  }

  /**
   * @return the findings and repairs; stored as a row if there was something, or an operator asked
   * @throws ProblemException 404 UNKNOWN_SKU, 409 RECONCILIATION_RUNNING, 503 when MySQL is
   *     unavailable, the sale is lost, loaded or archived meanwhile, or this process reconciles as
   *     many other SKUs for operators as it may
   */
  Report run(long skuId, Order order) {
    return run(skuId, order, lock -> reconciliation.run(skuId, order, lock));
  }

  private Report run(long skuId, Order order, Function<RunLock, Found> work) {
    if (!order.isWaitedFor()) {
      return alone(skuId, order, work);
    }
    return runs.within(
        () -> alone(skuId, order, work),
        () -> {
          throw ProblemException.of(
              ProblemCode.UNAVAILABLE,
              "Other SKUs are being reconciled already; send the same request again.");
        });
  }

  @Override
  public Optional<String> returnToRedis(long skuId, Duration atMost) {
    try {
      Report report =
          run(
              skuId,
              Order.rebuildInBackground(FALLBACK),
              lock -> reconciliation.returnToRedis(skuId, atMost, lock));
      return report.outcome() == RunOutcome.REBUILT || report.outcome() == RunOutcome.NOT_ON_SALE
          ? Optional.empty()
          : Optional.of(report.detail());
    } catch (ProblemException e) {
      return Optional.of(e.problem().text());
    } catch (UnreadableFieldException e) {
      return Optional.of(e.detail());
    }
  }

  /**
   * Compares Redis with MySQL and changes nothing.
   *
   * @param stepEnds called after each page; may wait. For the only thread of a periodic task.
   * @return the differences, for operators; empty also when Redis need not have the sale
   * @throws ProblemException as {@link #run}; 503 also when none is found or can be excluded
   * @throws JedisException when Redis is unavailable
   */
  public List<String> differences(long skuId, Runnable stepEnds) {
    return differences(skuId, Order.inBackground(true, stepEnds));
  }

  /** As {@link #differences(long, Runnable)}, for an operator who waits. */
  public List<String> differences(long skuId) {
    return differences(skuId, new Order(true, false, Schedule.NAME));
  }

  private List<String> differences(long skuId, Order order) {
    try {
      Report report = run(skuId, order);
      if (report.outcome() == RunOutcome.CLEAN || report.outcome() == RunOutcome.NOT_ON_SALE) {
        return List.of();
      }
      if (report.counts().isEmpty()) { // orders are on their way
        throw ProblemException.of(ProblemCode.UNAVAILABLE, report.detail());
      }
      return List.of("Redis: " + report.detail() + " " + report.counts());
    } catch (ProblemException e) {
      if (e.problem().code() == ProblemCode.REFUSED) {
        return List.of();
      }
      throw e;
    } catch (UnreadableFieldException e) {
      return List.of("Redis: " + e.detail());
    }
  }

  private Report alone(long skuId, Order order, Function<RunLock, Found> work) {
    try (RunLock lock =
        RunLock.take(dataSource, "reconcile-" + skuId, lockSilence)
            .orElseThrow(
                () ->
                    ProblemException.of(
                        ProblemCode.RECONCILIATION_RUNNING,
                        "This SKU is being reconciled already."))) {
      Instant start = clock.instant();
      return report(skuId, order, start, work.apply(lock));
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e).isRefusal()) {
        throw e; // a defect, not MySQL's absence
      }
      log.warn("sku {}: MySQL is unavailable: {}", skuId, e.toString());
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE, "MySQL or Redis does not answer; send the same request again.");
    }
  }

  private Report report(long skuId, Order order, Instant start, Found found) {
    Report report = Report.of(skuId, order, found, start, clock.instant());
    count(report.outcome(), found.repairs());
    boolean byOperator =
        !order.startedBy().equals(Schedule.NAME) && !order.startedBy().equals(FALLBACK);
    return byOperator || !found.repairs().isEmpty() ? table.keep(report, found.repairs()) : report;
  }

  /** Counts a run, its repairs that were made, and the differences that it only reports. */
  private void count(RunOutcome outcome, RepairLog repairs) {
    ended(outcome).increment();
    repairs.countsMade().forEach((kind, made) -> counter(kind).increment(made));
    repairs.counts().forEach((kind, n) -> counter(kind).increment(kind.isOnlyReported() ? n : 0));
  }

  private Counter ended(RunOutcome outcome) {
    return Counter.builder("seckill.consumer.reconciliations")
        .description("Runs of the reconciliation, of one SKU each")
        .tag("outcome", outcome.name())
        .register(meters);
  }

  private Counter counter(RepairKind kind) {
    Counter.Builder counter =
        kind.isOnlyReported()
            ? Counter.builder("seckill.consumer.findings")
                .description("What the reconciliation has only reported, again in each run")
            : Counter.builder("seckill.consumer.repairs")
                .description("What the reconciliation has set right");
    return counter.tag("kind", kind.name()).register(meters);
  }
}
