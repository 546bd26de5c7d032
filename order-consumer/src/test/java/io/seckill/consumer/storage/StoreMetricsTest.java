package io.seckill.consumer.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.testing.LoggedLines;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Alerts depend on these counts. */
class StoreMetricsTest {

  private static final OrderMessage ORDER = OrderFlood.order(1001, PurchasePolicy.LIMITED, 7, 3);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  static Stream<Arguments> outcomes() {
    return Stream.of(
        counted(new Stored(ORDER), "stored"),
        counted(new Rejected(ORDER, RejectReason.SOLD_OUT), "rejected SOLD_OUT"),
        counted(new Rejected(ORDER, RejectReason.QUOTA_EXCEEDED), "rejected QUOTA_EXCEEDED"),
        counted(new Rejected(ORDER, RejectReason.DISCARDED), "rejected DISCARDED"),
        counted(new Known(ORDER, OrderStatus.CONFIRMED, null, 1), "duplicates"),
        counted(new Alias(ORDER, new OrderId(1), true), "aliases"),
        counted(new Alias(ORDER, new OrderId(1), false), "duplicates"),
        counted(new Unstorable(ORDER, Unfit.OTHER_CONTENT, ""), "content.conflicts"),
        Arguments.of(new Unstorable(ORDER, Unfit.UNKNOWN_SKU, ""), Map.of()),
        Arguments.of(new Unstorable(ORDER, Unfit.OTHER_POLICY, ""), Map.of()),
        Arguments.of(new Failed(ORDER, ""), Map.of()));
  }

  private static Arguments counted(StoreOutcome outcome, String counter) {
    return Arguments.of(outcome, Map.of("seckill.consumer." + counter, 1.0));
  }

  @ParameterizedTest
  @MethodSource("outcomes")
  void countsEachOrderOnceByWhatBecameOfIt(StoreOutcome outcome, Map<String, Double> counted) {
    new StoreMetrics(meters).count(StoredBatch.of(outcome), 5_000_000);

    assertThat(counters()).isEqualTo(counted);
    assertThat(meters.get("seckill.consumer.batch.size").summary().totalAmount()).isEqualTo(1);
    assertThat(meters.get("seckill.consumer.batch.time").timer().totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo(5);
  }

  /** Alerts send the operator to this line. */
  @Test
  void namesEveryRejectedOrderOfABatch() {
    List<OrderMessage> orders =
        IntStream.range(0, 10)
            .mapToObj(i -> OrderFlood.order(1001, PurchasePolicy.LIMITED, 7, 3))
            .toList();
    List<StoreOutcome> rejected =
        orders.stream()
            .<StoreOutcome>map(order -> new Rejected(order, RejectReason.QUOTA_EXCEEDED))
            .toList();

    LoggedLines lines = LoggedLines.ofThisThread(StoreMetrics.class);
    new StoreMetrics(meters).count(new StoredBatch(rejected, List.of(), List.of()), 5_000_000);
    lines.close();

    assertThat(lines.texts())
        .singleElement()
        .asString()
        .contains("rejected 10 orders", "QUOTA_EXCEEDED")
        .contains(orders.stream().map(order -> "order=" + order.orderId()).toList());
  }

  @Test
  void countsABatchThatIsDecidedOrderByOrder() {
    new StoreMetrics(meters).split();

    assertThat(counters()).isEqualTo(Map.of("seckill.consumer.splits", 1.0));
  }

  @ParameterizedTest
  @EnumSource
  void countsEachPurchaseOfAStrongSaleOnceByItsOutcome(Outcome outcome) {
    StrongMetrics metrics = new StrongMetrics(meters);
    StrongDecision decision = StrongDecision.of(outcome);

    assertThat(metrics.count(List.of(decision, decision), 5_000_000))
        .containsExactly(decision, decision);

    assertThat(counters()).isEqualTo(Map.of("seckill.consumer.strong.decided " + outcome, 2.0));
    assertThat(meters.get("seckill.consumer.strong.time").timer().count()).isEqualTo(1);
  }

  @Test
  void countsWhatAFallbackSells() {
    StrongMetrics metrics = new StrongMetrics(meters);

    metrics.served(
        List.of(
            StrongDecision.confirmed(new OrderId(1)),
            StrongDecision.repeated(new OrderId(2), OrderStatus.CONFIRMED),
            StrongDecision.of(Outcome.SOLD_OUT)));

    assertThat(counters()).isEqualTo(Map.of("seckill.fallback.served", 1.0));
  }

  /** The counters that are not 0, by name and tag. */
  private Map<String, Double> counters() {
    Map<String, Double> counters = new TreeMap<>();
    for (Meter meter : meters.getMeters()) {
      if (meter instanceof Counter counter && counter.count() != 0) {
        List<Tag> tags = meter.getId().getTags();
        String name = meter.getId().getName();
        counters.put(tags.isEmpty() ? name : name + " " + tags.get(0).getValue(), counter.count());
      }
    }
    return counters;
  }
}
