package io.seckill.consumer.reconciliation;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.SkuProgress;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.RedisSale.Late;
import io.seckill.consumer.reconciliation.RedisSale.WrongQuota;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Repairs Redis after a comparison; in a dry run only reports the repairs. */
@Component
record Repairs(
    RedisSale redis,
    OrderResults results,
    Compensations compensations,
    KnownOrders orders,
    JdbcClient jdbc) {

  /**
   * Stops a sale in Redis that is not open in MySQL; never opens one. Operators change one store
   * after the other, so both are read once more.
   */
  List<Repair> state(ProductSnapshot sale, RedisSaleState seen, boolean dryRun) {
    if (seen.state().equals(sale.state())) {
      return List.of();
    }
    RedisSaleState again = redis.state(sale.skuId());
    String now =
        ProductRows.find(jdbc, sale.skuId())
            .filter(moved -> moved.epoch() == sale.epoch())
            .map(ProductSnapshot::state)
            .orElse(again.state());
    if (again.state().equals(now) || again.isLostOf(sale)) {
      return List.of();
    } else if (again.state().equals("OPEN")) {
      boolean made = !dryRun && redis.setState(sale, again, now);
      return List.of(Repair.of(RepairKind.STATE_SET, sale.skuId(), "OPEN", now, made));
    }
    return List.of(Repair.of(RepairKind.STATE_DIFFERS, sale.skuId(), again.state(), now, false));
  }

  /** Stops a sale whose last preheat MySQL has lost, so that it can be preheated. */
  List<Repair> stop(ProductSnapshot sale, RedisSaleState seen, boolean dryRun) {
    if (!seen.isRunning()) {
      return List.of();
    }
    String closed = SaleState.CLOSED.name();
    boolean made = !dryRun && redis.setState(sale, seen, closed);
    return List.of(Repair.of(RepairKind.STATE_SET, sale.skuId(), seen.state(), closed, made));
  }

  /**
   * Replays compensations, writes results, quotas, records, the stock and counters, in this order:
   * units are returned before they are counted, and late orders change the sequence, after which
   * the stock is not replaced. The next comparison finds later changes.
   */
  void all(Comparison found, boolean dryRun, Consumer<Repair> to) {
    part(found, dryRun, to);
    totals(found, dryRun, to);
  }

  /** The repairs of {@link #all} that are possible before all buckets are compared. */
  void part(Comparison found, boolean dryRun, Consumer<Repair> to) {
    compensations(found, dryRun, to);
    results(found, dryRun, to);
    quotas(found, dryRun, to);
    records(found, dryRun, to);
  }

  /** The repairs of {@link #all} that need a complete comparison. */
  void totals(Comparison found, boolean dryRun, Consumer<Repair> to) {
    progress(found, dryRun);
    stock(found, dryRun, to);
    late(found, dryRun, to);
  }

  private void compensations(Comparison found, boolean dryRun, Consumer<Repair> to) {
    if (!dryRun) {
      compensations.deliverAgain(found.undelivered());
    }
    for (OrderId id : found.undelivered()) {
      to.accept(
          Repair.of(
              RepairKind.COMPENSATION_REPLAYED, id, "not compensated", "compensated", !dryRun));
    }
  }

  private void results(Comparison found, boolean dryRun, Consumer<Repair> to) {
    boolean made = !dryRun && !found.results().isEmpty() && results.write(found.results());
    for (OrderResult result : found.results()) {
      to.accept(
          Repair.of(
              RepairKind.RESULT_WRITTEN, result.orderId(), "not written", result.status(), made));
    }
  }

  private void progress(Comparison found, boolean dryRun) {
    ProductSnapshot sale = found.sale();
    if (!dryRun && found.seen().number("settled") < sale.settled()) {
      var unused =
          results.write(
              List.of(),
              List.of(
                  new SkuProgress(
                      sale.skuId(), sale.epoch(), sale.settled(), found.databaseNow())));
    }
  }

  /**
   * Leaves out quotas that have changed in MySQL since they were compared: Redis may have forgotten
   * the order whose units it has returned.
   */
  private void quotas(Comparison found, boolean dryRun, Consumer<Repair> to) {
    Map<Long, Long> now =
        DatabaseSnapshot.quotas(
            jdbc, found.sale().skuId(), found.quotas().stream().map(WrongQuota::userId).toList());
    Map<Integer, List<WrongQuota>> byBucket =
        found.quotas().stream()
            .filter(quota -> now.getOrDefault(quota.userId(), 0L) == quota.stored())
            .collect(groupingBy(quota -> bucket(found, quota.userId())));
    byBucket.forEach(
        (bucket, quotas) -> {
          List<Boolean> made = dryRun ? List.of() : redis.setQuotas(found.sale(), bucket, quotas);
          for (int i = 0; i < quotas.size(); i++) {
            to.accept(repair(quotas.get(i), !dryRun && made.get(i)));
          }
        });
  }

  private static Repair repair(WrongQuota quota, boolean made) {
    String units = quota.found().isEmpty() ? "0" : quota.found();
    return Repair.of(RepairKind.QUOTA_SET, quota.userId(), units, quota.wanted(), made);
  }

  private void stock(Comparison found, boolean dryRun, Consumer<Repair> to) {
    Long wanted = found.wrongStock();
    if (wanted == null || (dryRun && hasMoved(found))) {
      return;
    }
    boolean made = !dryRun && redis.setStock(found.sale(), found.seen(), wanted);
    to.accept(
        Repair.of(RepairKind.STOCK_SET, found.sale().skuId(), found.seen().stock(), wanted, made));
  }

  /**
   * Leaves out orders that have ended since MySQL was compared: Redis may have returned their units
   * and forgotten them, and would return the units again to a record that is written now.
   */
  private void records(Comparison found, boolean dryRun, Consumer<Repair> to) {
    Map<OrderId, AdmissionRecord> unrecorded = new HashMap<>(found.unrecorded());
    unrecorded.keySet().retainAll(orders.holdingUnits(found.unrecorded().keySet()));
    Map<Integer, Map<OrderId, AdmissionRecord>> byBucket =
        unrecorded.entrySet().stream()
            .collect(
                groupingBy(
                    order -> bucket(found, order.getValue().userId()),
                    toMap(Map.Entry::getKey, Map.Entry::getValue)));
    if (!dryRun) {
      byBucket.forEach((bucket, orders) -> redis.restore(found.sale(), bucket, orders));
    }
    unrecorded.forEach(
        (id, order) ->
            to.accept(
                Repair.of(RepairKind.RECORD_RESTORED, id, "absent", order.status(), !dryRun)));
  }

  private void late(Comparison found, boolean dryRun, Consumer<Repair> to) {
    Late late = found.late();
    if (late.isNone() || (dryRun && hasMoved(found))) {
      return;
    }
    String counted = late.orders() + " orders, " + late.units() + " units not admitted";
    boolean made = !dryRun && redis.countLate(found.sale(), found.seen(), late);
    to.accept(Repair.of(RepairKind.COUNTER_SET, found.sale().skuId(), counted, "0", made));
  }

  /**
   * Whether the sale has sold, or its stock has changed, since its totals were read: they then
   * differ from the orders that were read after them.
   */
  private boolean hasMoved(Comparison found) {
    RedisSaleState now = redis.state(found.sale().skuId());
    return now.seq() != found.seen().seq()
        || now.number("changeSeq") != found.seen().number("changeSeq")
        || !Objects.equals(now.stock(), found.seen().stock());
  }

  private static int bucket(Comparison found, long userId) {
    return RedisKeys.bucketOf(userId, found.seen().bucketCount());
  }
}
