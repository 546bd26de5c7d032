package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.loading.DatabasePart;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.orders.NoCompensations;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.testing.UnstoredProduct;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that finds nothing does not say that nothing is there, unless it has seen everything. */
class SaleReconciliationTest {

  private static final long STOCK = 100_000;

  private final SaleReconciliation runs =
      new SaleReconciliation(
          null,
          new LostOrders(null, new AllInLists(), null, new KnownOrders(null), null),
          new Repairs(null, null, new NoCompensations(), new KnownOrders(null), null),
          null,
          null,
          null,
          new ReconciliationProperties(Duration.ofSeconds(30), Duration.ofSeconds(45), false));

  @Test
  void aSaleIsCleanIfAllItsUnknownOrdersAreInLists() {
    assertThat(run(comparison(Comparison.MOST_FINDINGS), false).outcome())
        .isEqualTo(RunOutcome.CLEAN);
  }

  /** One that was not kept may be lost. */
  @Test
  void aSaleWithMoreUnknownOrdersThanAreKeptIsNotClean() {
    assertMayBeMore(run(comparison(Comparison.MOST_FINDINGS + 1), false));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSaleThatIsNotComparedAsAWholeIsNotClean(boolean dryRun) {
    Comparison comparison = comparison(0);
    comparison.leavesOut();

    assertMayBeMore(run(comparison, dryRun));
  }

  private static void assertMayBeMore(Found found) {
    assertThat(found.outcome()).isEqualTo(RunOutcome.FOUND);
    assertThat(found.detail())
        .isEqualTo("0 differences, 0 set right. There may be more: run again.");
  }

  private Found run(Comparison comparison, boolean dryRun) {
    Comparisons.Read read =
        new Comparisons.Read(comparison.sale(), comparison.seen(), Optional.of(comparison), true);
    return runs.compared(read, comparison, dryRun, () -> {});
  }

  /** Of a sale that has admitted so many orders, which are on their way to MySQL. */
  private static Comparison comparison(int unknown) {
    Map<OrderId, AdmissionRecord> records = new HashMap<>();
    for (int i = 1; i <= unknown; i++) {
      records.put(
          new OrderId(i),
          new AdmissionRecord(i, null, 1, i, 1, 1, OrderStatus.QUEUED, null, 1, null));
    }
    String admitted = Integer.toString(unknown);
    RedisSaleState seen =
        new RedisSaleState(
            Map.of(
                "state", "OPEN",
                "epoch", "1",
                "seq", admitted,
                "admittedOrders", admitted,
                "publishedOrders", admitted,
                "admittedUnits", admitted),
            Long.toString(STOCK - unknown));
    Comparison comparison = new Comparison(sale(), seen, 1, OrderTotals.NONE, Map.of(), Map.of());
    comparison.add(
        new DatabasePart(Map.of(), Map.of(), Map.of(), Map.of()),
        new RedisPart(Map.of(), records, Map.of(), Map.of()));
    return comparison;
  }

  private static ProductSnapshot sale() {
    return UnstoredProduct.of(7).unlimited().stock(STOCK).snapshot();
  }

  private static final class AllInLists extends RedisListScan {

    AllInLists() {
      super(null);
    }

    @Override
    public void removeFrom(long skuId, Set<OrderId> orders) {
      orders.clear();
    }
  }
}
