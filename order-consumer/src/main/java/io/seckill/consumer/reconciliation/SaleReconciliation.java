package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.consumer.fallback.AdmittedUnitsTable;
import io.seckill.consumer.fallback.AdmittedUnitsTable.LateUnits;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.reconciliation.Comparisons.Read;
import io.seckill.consumer.reconciliation.Reconciler.Order;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/** One run for one sale: compares it, and repairs or rebuilds it. */
@Component
record SaleReconciliation(
    Comparisons comparisons,
    LostOrders lostOrders,
    Repairs repairs,
    Rebuild rebuild,
    RedisServers servers,
    AdmittedUnitsTable admittedUnits,
    ReconciliationProperties settings) {

  /** Comparisons of one run: data that change during the first are usually stable at the second. */
  private static final int MOST_ROUNDS = 3;

  private static final Logger log = LoggerFactory.getLogger(SaleReconciliation.class);

  private static final String NOT_PASSED =
      "The barrier has not passed in time; whether orders are missing is not known.";

  private static final String PREHEAT =
      "A preheat of this sale is under way; if it has failed, repeat it.";

  private static final String ABSENT = "Redis need not have this sale, and has not.";

  private static final String OLD =
      "Redis need not have this sale, but has older data of it, or a part: close it, also if it is"
          + " closed already, preheat it to replace them, and close it.";

  private static final String LOST =
      "Redis has lost the sale, or part of it; a run that is no dry run rebuilds it.";

  private static final String NEWER =
      "Redis has a later epoch of this sale than MySQL, which has lost a preheat: ";

  private static final String PREHEAT_NEWER =
      NEWER + "a run that is no dry run stops it and sends orders again; then preheat it.";

  private static final String REBUILD_NEWER =
      NEWER + "a run that is no dry run sends orders again, gives up the others, and rebuilds it.";

  private static final String GONE =
      "Redis has lost the sale meanwhile, or forgotten it: run again.";

  /**
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  Found run(long skuId, Order order, RunLock lock) {
    Runnable stepEnds =
        () -> {
          lock.isHeld(); // keeps it
          order.stepEnds().run();
        };
    Optional<LateUnits> late = admittedUnits.late(skuId); // before the orders of MySQL are read
    Read read = read(skuId, stepEnds);
    if (!read.isLost() && !read.isProven() && servers.prove(Partition.ofSku(skuId))) {
      read = read(skuId, stepEnds);
    }
    if (read.isLost()) {
      return lost(read, order, stepEnds, lock);
    }
    if (!read.isProven()) {
      return Found.of(
          read,
          RunOutcome.UNPROVEN,
          "Redis has changed, and what was published before is not all stored yet.");
    }
    if (read.comparison().isEmpty()) {
      return notCompared(read, order.dryRun(), stepEnds);
    }
    Comparison comparison = read.comparison().get();
    Found found = compared(read, comparison, order.dryRun(), stepEnds);
    if (!order.dryRun() && found.outcome() == RunOutcome.CLEAN) {
      late.ifPresent(units -> forgetLate(comparison, units));
    }
    return found;
  }

  /** Of a sale that Redis need not have. If MySQL has lost its last preheat, orders may be lost. */
  private Found notCompared(Read read, boolean dryRun, Runnable stepEnds) {
    if (!comparisons.isNewerInRedis(read)) {
      String present = read.seen().isPreheatOf(read.sale()) ? PREHEAT : OLD;
      return Found.of(read, RunOutcome.NOT_ON_SALE, read.seen().isAbsent() ? ABSENT : present);
    }
    RepairLog found = new RepairLog();
    found.addAll(repairs.stop(read.sale(), read.seen(), dryRun));
    if (!lostOrders.sendAll(read, settings.barrierTimeout(), dryRun, stepEnds, found)) {
      return Found.of(read, RunOutcome.UNPROVEN, NOT_PASSED + " " + PREHEAT_NEWER, found);
    }
    RunOutcome outcome = found.isEmpty() ? RunOutcome.NOT_ON_SALE : RunOutcome.FOUND;
    return Found.of(read, outcome, PREHEAT_NEWER, found);
  }

  /**
   * A fallback reserves late units beyond those that Redis has admitted. At rest Redis has counted
   * them, too: as dead letters when the sale was loaded, or by a repair. An order that MySQL has
   * decided meanwhile may have been in flight.
   */
  private void forgetLate(Comparison comparison, LateUnits late) {
    ProductSnapshot sale = comparison.sale();
    if (comparison.isAtRest()
        && late.epoch() == sale.epoch()
        && comparisons
            .sale(sale.skuId())
            .filter(now -> now.epoch() == sale.epoch() && now.settled() == sale.settled())
            .isPresent()) {
      admittedUnits.forgetLate(sale.skuId(), late, comparison.seen().admittedUnits());
    }
  }

  /**
   * Loads a sale that is in a fallback into Redis, which decides it then; if that fails, MySQL
   * decides it as before. One that Redis would not keep any more is removed from it instead.
   *
   * @param atMost longest wait for the orders in flight, if that is shorter than the time-out of
   *     barriers
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  Found returnToRedis(long skuId, Duration atMost, RunLock lock) {
    rebuild.backToMySql(skuId, lock); // it may be stopped by a process that died, and Redis away
    Read read =
        comparisons
            .ofFallback(skuId)
            .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
    if (!read.sale().isReturnable()) {
      return Found.of(
          read, RunOutcome.NOT_ON_SALE, "MySQL does not decide this sale in a fallback.");
    }
    if (!read.isLost()) {
      return rebuild.abandon(read.sale())
          ? Found.of(read, RunOutcome.NOT_ON_SALE, "Redis does not keep this sale any more.")
          : Found.of(read, RunOutcome.UNPROVEN, Rebuild.CHANGED);
    }
    boolean isDone = false;
    try {
      Duration wait =
          atMost.compareTo(settings.barrierTimeout()) < 0 ? atMost : settings.barrierTimeout();
      Found rebuilt = rebuild.run(read.sale(), read.seen(), wait, lock);
      isDone = rebuilt.outcome() == RunOutcome.REBUILT;
      return rebuilt;
    } finally {
      if (!isDone) {
        rebuild.backToMySql(skuId, lock);
      }
    }
  }

  private Read read(long skuId, Runnable stepEnds) {
    return comparisons
        .read(skuId, stepEnds, part -> {})
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
  }

  private Found lost(Read read, Order order, Runnable stepEnds, RunLock lock) {
    ProductSnapshot sale = read.sale();
    if (order.dryRun() && read.seen().isPreheatOf(sale)) {
      return Found.of(read, RunOutcome.UNPROVEN, PREHEAT);
    }
    if (!order.dryRun() && order.mayRebuild()) {
      return rebuild.run(sale, read.seen(), settings.barrierTimeout(), lock);
    }
    RepairLog found = new RepairLog();
    found.add(Repair.of(RepairKind.SALE_REBUILT, sale.skuId(), "lost", "rebuilt", false));
    String detail = LOST;
    if (comparisons.isNewerInRedis(read)) {
      Duration atMost = settings.barrierTimeout();
      boolean areListed = lostOrders.sendAll(read, atMost, true, stepEnds, found);
      detail = areListed ? REBUILD_NEWER : NOT_PASSED;
    }
    return Found.of(read, RunOutcome.LOST, detail, found);
  }

  /** Repairs what one comparison has found, unless it is a dry run. */
  Found compared(Read read, Comparison comparison, boolean dryRun, Runnable stepEnds) {
    RepairLog found = new RepairLog();
    try {
      return compared(read, comparison, dryRun, stepEnds, found);
    } catch (JedisException | ProblemException e) {
      if (found.sizeMade() == 0) {
        throw e;
      }
      log.warn(
          "sku {}: cut off after {} repairs: {}",
          read.sale().skuId(),
          found.sizeMade(),
          e.toString());
      return new Found(found.outcome(false), found.detail(false), read.sale().epoch(), found);
    }
  }

  /** {@code found} gets the findings and repairs, also when this ends with an exception. */
  private Found compared(
      Read read, Comparison comparison, boolean dryRun, Runnable stepEnds, RepairLog found) {
    ProductSnapshot sale = read.sale();
    found.addAll(repairs.state(sale, read.seen(), dryRun));
    Optional<Map<OrderId, AdmissionRecord>> missing =
        lostOrders.among(sale.skuId(), comparison.unknown(), settings.barrierTimeout());
    found.addAll(lostOrders.send(sale, missing.orElse(Map.of()), dryRun));
    found.addAll(lostOrders.counters(sale, read.seen(), dryRun));
    boolean isWhole = comparison.hasAllUnknown();
    if (dryRun) {
      repairs.all(comparison, true, found::add);
      isWhole &= !comparison.isPartial();
    } else {
      Repaired repaired = repair(comparison, stepEnds, found);
      if (repaired == Repaired.SALE_GONE) {
        return new Found(RunOutcome.LOST, GONE, sale.epoch(), found);
      }
      isWhole &= repaired == Repaired.ALL;
    }
    return missing.isPresent()
        ? new Found(found.outcome(isWhole), found.detail(isWhole), sale.epoch(), found)
        : new Found(RunOutcome.UNPROVEN, NOT_PASSED, sale.epoch(), found);
  }

  /** Whether the last comparison of a run was complete. */
  private enum Repaired {
    ALL,
    /** There may be more findings than it has kept, or Redis has changed. */
    PART,
    /** Redis does not have the sale any more. */
    SALE_GONE
  }

  /**
   * Makes each repair once; it counts as made when the next comparison does not find it again. The
   * first comparison keeps a limited number of findings. Later ones are repaired part by part while
   * they go on. The repairs of a run that is cut off stay: the next one finds the rest.
   */
  private Repaired repair(Comparison first, Runnable stepEnds, RepairLog made) {
    long skuId = first.sale().skuId();
    AtomicInteger found = new AtomicInteger();
    Consumer<Repair> to =
        repair -> {
          found.incrementAndGet();
          if (repair.made()) {
            made.add(repair);
          }
        };
    repairs.all(first, false, to);
    Comparison last = first;
    for (int round = 1; found.get() > 0; round++) {
      boolean isLast = round == MOST_ROUNDS;
      found.set(0);
      Optional<Read> read =
          comparisons.read(
              skuId,
              stepEnds,
              part -> {
                if (!isLast) {
                  repairs.part(part, false, to);
                  part.forget();
                }
              });
      Optional<Comparison> next = read.flatMap(Read::comparison);
      if (next.isEmpty()) {
        return Repaired.SALE_GONE;
      } else if (!read.get().isProven()) {
        return Repaired.PART; // the totals would hide what it has lost
      }
      last = next.get();
      if (isLast) {
        repairs.all(last, true, made::add);
      } else {
        repairs.totals(last, false, to);
      }
    }
    return last.isPartial() ? Repaired.PART : Repaired.ALL;
  }
}
