package io.seckill.consumer.consistency;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.consumer.catalogue.ProductSnapshot;
import io.seckill.consumer.consistency.Comparisons.Read;
import io.seckill.consumer.consistency.LostOrders.Search;
import io.seckill.consumer.consistency.Rebuild.Rebuilt;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  /** Comparisons of one run: data that change during the first are usually stable at the second. */
  private static final int MOST_ROUNDS = 3;

  private final DataSource dataSource;
  private final Comparisons comparisons;
  private final LostOrders lostOrders;
  private final Repairs repairs;
  private final Rebuild rebuild;
  private final RedisServers servers;
  private final ReconciliationTable table;
  private final Duration barrierTimeout;
  private final Duration lockSilence;
  private final Semaphore runs = new Semaphore(ConnectionPools.RECONCILIATION_RUNS);
  private final Clock clock;
  private final ReconciliationMeters meters;

  Reconciler(
      ConnectionPools pools,
      Comparisons comparisons,
      LostOrders lostOrders,
      Repairs repairs,
      Rebuild rebuild,
      RedisServers servers,
      ReconciliationTable table,
      ReconciliationProperties settings,
      Clock clock,
      MeterRegistry meters) {
    this.dataSource = pools.reconciliation();
    this.comparisons = comparisons;
    this.lostOrders = lostOrders;
    this.repairs = repairs;
    this.rebuild = rebuild;
    this.servers = servers;
    this.table = table;
    this.barrierTimeout = settings.barrierTimeout();
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

  /** What a run has found, before a report is made of it. */
  private record Found(Outcome outcome, String detail, long epoch, List<Repair> repairs) {}

  /**
   * @return what was found and done; stored as a row if there was something, or an operator asked
   * @throws ProblemException 404 UNKNOWN_SKU, 409 RECONCILIATION_RUNNING, 503 when MySQL is
   *     unavailable, or this process reconciles as many other SKUs as it may
   */
  Report run(long skuId, Order order) {
    if (!runs.tryAcquire()) {
      throw ProblemException.unavailable(
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
                    ProblemException.conflict(
                        "RECONCILIATION_RUNNING", "This SKU is being reconciled already."))) {
      Report report = locked(skuId, order, lock);
      log.debug("{}: {} under {}", report, report.outcome(), lock);
      return report;
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e) == SqlFailure.ROW) {
        throw e; // a defect, not MySQL's absence
      }
      log.warn("sku {}: MySQL is unavailable: {}", skuId, e.toString());
      throw ProblemException.unavailable(
          "MySQL or Redis does not answer; send the same request again.");
    }
  }

  private Report locked(long skuId, Order order, RunLock lock) {
    Instant start = clock.instant();
    Found found = find(skuId, order, lock);
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

  private Found find(long skuId, Order order, RunLock lock) {
    Read read = read(skuId);
    int partition = Partition.ofSku(skuId);
    if (!read.isLost() && !servers.isProven(partition)) {
      if (!servers.prove(partition)) {
        return unproven(read.sale().epoch());
      }
      read = read(skuId);
    }
    if (read.isLost()) {
      return lost(read, order, lock);
    }
    return read.comparison().isEmpty()
        ? new Found(
            Outcome.NOT_ON_SALE,
            "Redis need not have this sale, and has not.",
            read.sale().epoch(),
            List.of())
        : compared(read, order);
  }

  private Read read(long skuId) {
    return comparisons
        .read(skuId)
        .orElseThrow(
            () -> ProblemException.notFound(Problem.UNKNOWN_SKU, "There is no such product."));
  }

  /** Redis may have lost orders that are still in the broker. */
  private static Found unproven(long epoch) {
    return new Found(
        Outcome.UNPROVEN,
        "Redis has changed, and what was published before is not all stored yet.",
        epoch,
        List.of());
  }

  private Found lost(Read read, Order order, RunLock lock) {
    ProductSnapshot sale = read.sale();
    if (order.dryRun() || !order.mayRebuild()) {
      return new Found(
          Outcome.LOST,
          "Redis has lost the sale, or part of it; a run that is no dry run rebuilds it.",
          sale.epoch(),
          List.of(Repair.of(RepairKind.SALE_REBUILT, sale.skuId(), "lost", "rebuilt", false)));
    }
    Rebuilt rebuilt = rebuild.run(sale, read.seen(), barrierTimeout, lock);
    long epoch = comparisons.read(sale.skuId()).map(r -> r.sale().epoch()).orElse(sale.epoch());
    return new Found(
        rebuilt.done() ? Outcome.REBUILT : Outcome.UNPROVEN,
        rebuilt.detail(),
        epoch,
        rebuilt.repairs());
  }

  private Found compared(Read first, Order order) {
    long epoch = first.sale().epoch();
    List<Repair> found = new ArrayList<>(repairs.state(first.sale(), first.seen(), order.dryRun()));
    Comparison comparison = first.comparison().orElseThrow();
    Search search = lostOrders.among(first.sale().skuId(), comparison.unknown(), barrierTimeout);
    found.addAll(lostOrders.send(first.sale(), search.missing(), order.dryRun()));
    found.addAll(lostOrders.counters(first.sale(), first.seen(), order.dryRun()));
    found.addAll(order.dryRun() ? repairs.all(comparison, true) : setRight(comparison));
    return new Found(outcome(search, found), detail(search, found), epoch, found);
  }

  /** Makes each repair once; it counts as made when the next comparison does not find it again. */
  private Collection<Repair> setRight(Comparison first) {
    Map<Repair.Key, Repair> made = new LinkedHashMap<>();
    Comparison left = first;
    for (int round = 0; round < MOST_ROUNDS; round++) {
      List<Repair> now = repairs.all(left, false);
      if (now.isEmpty()) {
        return made.values();
      }
      now.stream()
          .filter(Repair::made)
          .forEach(repair -> made.merge(repair.key(), repair, Repair::foundAgain));
      Optional<Comparison> next = comparisons.read(first.sale().skuId()).flatMap(Read::comparison);
      if (next.isEmpty()) {
        return made.values();
      }
      left = next.get();
    }
    repairs.all(left, true).forEach(open -> made.merge(open.key(), open, Repair::foundAgain));
    return made.values();
  }

  private static Outcome outcome(Search search, List<Repair> found) {
    if (!search.proven()) {
      return Outcome.UNPROVEN;
    } else if (found.isEmpty()) {
      return Outcome.CLEAN;
    }
    return found.stream().allMatch(Repair::made) ? Outcome.REPAIRED : Outcome.FOUND;
  }

  private static String detail(Search search, List<Repair> found) {
    if (!search.proven()) {
      return "The barrier has not passed in time; whether orders are missing is not known.";
    }
    return found.isEmpty()
        ? "Redis and MySQL agree."
        : found.size()
            + " differences, "
            + found.stream().filter(Repair::made).count()
            + " set right.";
  }
}
