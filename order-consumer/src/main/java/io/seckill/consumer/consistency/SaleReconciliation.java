package io.seckill.consumer.consistency;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.consumer.catalogue.ProductSnapshot;
import io.seckill.consumer.consistency.Comparisons.Read;
import io.seckill.consumer.consistency.Rebuild.Rebuilt;
import io.seckill.consumer.consistency.Reconciler.Order;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** What a run does with one sale: compares it, and repairs or rebuilds it. */
@Component
class SaleReconciliation {

  /** Comparisons of one run: data that change during the first are usually stable at the second. */
  private static final int MOST_ROUNDS = 3;

  private static final String NOT_PASSED =
      "The barrier has not passed in time; whether orders are missing is not known.";

  private final Comparisons comparisons;
  private final LostOrders lostOrders;
  private final Repairs repairs;
  private final Rebuild rebuild;
  private final RedisServers servers;
  private final Duration barrierTimeout;

  SaleReconciliation(
      Comparisons comparisons,
      LostOrders lostOrders,
      Repairs repairs,
      Rebuild rebuild,
      RedisServers servers,
      ReconciliationProperties settings) {
    this.comparisons = comparisons;
    this.lostOrders = lostOrders;
    this.repairs = repairs;
    this.rebuild = rebuild;
    this.servers = servers;
    this.barrierTimeout = settings.barrierTimeout();
  }

  /**
   * What a run has found and done.
   *
   * @param detail for operators
   * @param epoch of the sale when the run ended
   */
  record Found(Outcome outcome, String detail, long epoch, List<Repair> repairs) {}

  /**
   * @param lock of this SKU
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  Found run(long skuId, Order order, RunLock lock) {
    Read read = read(skuId);
    int partition = Partition.ofSku(skuId);
    if (!read.isLost() && !servers.isProven(partition)) {
      if (!servers.prove(partition)) {
        return found(
            read,
            Outcome.UNPROVEN,
            "Redis has changed, and what was published before is not all stored yet.");
      }
      read = read(skuId);
    }
    if (read.isLost()) {
      return lost(read, order, lock);
    }
    return read.comparison().isPresent()
        ? compared(read, read.comparison().get(), order)
        : found(read, Outcome.NOT_ON_SALE, "Redis need not have this sale, and has not.");
  }

  /**
   * Loads a sale that is in a fallback into Redis, which decides it then; if that fails, MySQL
   * decides it as before. One that Redis need not have any more is removed from it instead.
   *
   * @param atMost longest wait for the orders in flight, if that is shorter than the time-out of
   *     barriers
   * @param lock of this SKU
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  Found returnToRedis(long skuId, Duration atMost, RunLock lock) {
    Read read =
        comparisons
            .ofFallback(skuId)
            .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
    if (!read.sale().isReturnable()) {
      return found(read, Outcome.NOT_ON_SALE, "MySQL does not decide this sale in a fallback.");
    }
    if (!read.isLost()) {
      rebuild.abandon(read.sale());
      return found(read, Outcome.NOT_ON_SALE, "Redis need not have this sale any more.");
    }
    boolean isDone = false;
    try {
      Duration wait = atMost.compareTo(barrierTimeout) < 0 ? atMost : barrierTimeout;
      Rebuilt rebuilt = rebuild.run(read.sale(), read.seen(), wait, lock);
      isDone = rebuilt.done();
      return new Found(
          isDone ? Outcome.REBUILT : Outcome.UNPROVEN,
          rebuilt.detail(),
          comparisons.sale(skuId).orElse(read.sale()).epoch(),
          rebuilt.repairs());
    } finally {
      if (!isDone) {
        rebuild.backToMySql(skuId, lock);
      }
    }
  }

  private Read read(long skuId) {
    return comparisons.read(skuId).orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
  }

  private static Found found(Read read, Outcome outcome, String detail, Repair... repairs) {
    return new Found(outcome, detail, read.sale().epoch(), List.of(repairs));
  }

  private Found lost(Read read, Order order, RunLock lock) {
    ProductSnapshot sale = read.sale();
    if (order.dryRun() || !order.mayRebuild()) {
      return found(
          read,
          Outcome.LOST,
          "Redis has lost the sale, or part of it; a run that is no dry run rebuilds it.",
          Repair.of(RepairKind.SALE_REBUILT, sale.skuId(), "lost", "rebuilt", false));
    }
    Rebuilt rebuilt = rebuild.run(sale, read.seen(), barrierTimeout, lock);
    return new Found(
        rebuilt.done() ? Outcome.REBUILT : Outcome.UNPROVEN,
        rebuilt.detail(),
        comparisons.sale(sale.skuId()).orElse(sale).epoch(),
        rebuilt.repairs());
  }

  private Found compared(Read read, Comparison comparison, Order order) {
    ProductSnapshot sale = read.sale();
    boolean dryRun = order.dryRun();
    List<Repair> found = new ArrayList<>(repairs.state(sale, read.seen(), dryRun));
    Optional<Map<OrderId, AdmissionRecord>> missing =
        lostOrders.among(sale.skuId(), comparison.unknown(), barrierTimeout);
    found.addAll(lostOrders.send(sale, missing.orElse(Map.of()), dryRun));
    found.addAll(lostOrders.counters(sale, read.seen(), dryRun));
    found.addAll(dryRun ? repairs.all(comparison, true) : repair(comparison));
    return missing.isPresent()
        ? new Found(outcome(found), detail(found), sale.epoch(), found)
        : new Found(Outcome.UNPROVEN, NOT_PASSED, sale.epoch(), found);
  }

  /** Makes each repair once; it counts as made when the next comparison does not find it again. */
  private Collection<Repair> repair(Comparison first) {
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

  private static Outcome outcome(List<Repair> found) {
    if (found.isEmpty()) {
      return Outcome.CLEAN;
    }
    return found.stream().allMatch(Repair::made) ? Outcome.REPAIRED : Outcome.FOUND;
  }

  private static String detail(List<Repair> found) {
    return found.isEmpty()
        ? "Redis and MySQL agree."
        : "%d differences, %d set right.%s"
            .formatted(
                found.size(),
                found.stream().filter(Repair::made).count(),
                found.size() < Comparison.MOST_FINDINGS ? "" : " There may be more: run again.");
  }
}
