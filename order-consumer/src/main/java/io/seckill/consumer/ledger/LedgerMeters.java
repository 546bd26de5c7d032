package io.seckill.consumer.ledger;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * Publishes the ledger as gauges, one per balance item and periodically read SKU. The reading
 * thread sets their values, so that a scrape queries no store; only their age is that of the
 * scrape.
 */
@Component
class LedgerMeters {

  private static final JsonMapper SNAKE_CASE =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  private final MultiGauge units;
  private final MultiGauge orders;
  private final MultiGauge differences;
  private final MultiGauge unbalanced;
  private final MultiGauge ages;
  private final MultiGauge queues;
  private final Timer reads;

  LedgerMeters(MeterRegistry meters) {
    this.units = gauge(meters, "units", "Where the units of a SKU are, by term of the ledger");
    this.orders = gauge(meters, "orders", "Where the orders of a SKU are, by term of the ledger");
    this.differences =
        gauge(
            meters,
            "difference",
            "What the ledger finds missing; below 0: there twice, or never admitted");
    this.unbalanced =
        gauge(meters, "unbalanced.seconds", "How long the ledger of a SKU has not balanced");
    this.ages =
        gauge(meters, "age.seconds", "Time since the ledger of a SKU was read the last time");
    this.queues = gauge(meters, "queue.orders", "Orders an order queue holds");
    this.reads =
        Timer.builder("seckill.ledger.read")
            .description("Time to read the ledgers of all SKUs on sale")
            .register(meters);
  }

  private static MultiGauge gauge(MeterRegistry meters, String name, String description) {
    return MultiGauge.builder("seckill.ledger." + name).description(description).register(meters);
  }

  /** Replaces all gauges by those of these ledgers. */
  void show(Collection<SkuLedger> ledgers, Duration took, Instant now) {
    units.register(rows(ledgers, "term", ledger -> terms(ledger.units())), true);
    orders.register(rows(ledgers, "term", ledger -> terms(ledger.orders())), true);
    differences.register(rows(ledgers, "of", LedgerMeters::differences), true);
    unbalanced.register(
        ledgers.stream().map(ledger -> secondsUnbalanced(ledger, now)).toList(), true);
    queues.register(
        ledgers.stream()
            .flatMap(ledger -> ledger.sold().stream())
            .map(SkuLedger::queue)
            .flatMap(LedgerMeters::messages)
            .toList(),
        true);
    reads.record(took);
  }

  /**
   * Replaces the ages by those of these SKUs.
   *
   * @param age called at every scrape, so that an age grows also while no ledger can be read
   */
  void showAges(Collection<Long> skus, LongFunction<Duration> age) {
    ages.register(
        skus.stream()
            .<Row<?>>map(
                sku ->
                    Row.of(
                        Tags.of("sku", Long.toString(sku)),
                        () -> Math.max(0, age.apply(sku).toMillis() / 1e3)))
            .toList(),
        true);
  }

  private static List<Row<?>> rows(
      Collection<SkuLedger> ledgers, String tag, Function<SkuLedger, Map<String, Long>> values) {
    List<Row<?>> rows = new ArrayList<>();
    for (SkuLedger ledger : ledgers) {
      String sku = Long.toString(ledger.skuId());
      values
          .apply(ledger)
          .forEach((name, value) -> rows.add(Row.of(Tags.of("sku", sku, tag, name), value)));
    }
    return rows;
  }

  /** The terms of one side of the ledger under their JSON names, in snake case. */
  private static Map<String, Long> terms(Record side) {
    Map<String, Long> terms = SNAKE_CASE.convertValue(side, new TypeReference<>() {});
    terms.remove("difference");
    return terms;
  }

  /** Of partitions and queues of shards the largest. */
  private static Map<String, Long> differences(SkuLedger ledger) {
    return Map.of(
        "units", ledger.units().difference(),
        "orders", ledger.orders().difference(),
        "mysql", ledger.mysql().difference(),
        "partition", largest(ledger, sold -> sold.partition().difference()),
        "queue", largest(ledger, sold -> ofQueue(sold.queue())));
  }

  private static long largest(SkuLedger ledger, ToLongFunction<SkuLedger> difference) {
    return ledger.sold().stream()
        .map(difference::applyAsLong)
        .max(Comparator.comparingLong(Math::abs))
        .orElse(0L);
  }

  /** Below 0 it is no imbalance. */
  private static long ofQueue(SkuLedger.@Nullable Queue queue) {
    return queue == null ? 0 : Math.max(0, queue.difference());
  }

  private static Row<?> secondsUnbalanced(SkuLedger ledger, Instant now) {
    Instant since = ledger.unbalancedSince();
    double seconds = since == null ? 0 : Math.max(0, Duration.between(since, now).toMillis() / 1e3);
    return Row.of(Tags.of("sku", Long.toString(ledger.skuId())), seconds);
  }

  private static Stream<Row<?>> messages(SkuLedger.@Nullable Queue queue) {
    return queue == null
        ? Stream.empty()
        : Stream.of(
            Row.of(Tags.of("queue", queue.queue(), "state", "ready"), queue.ready()),
            Row.of(Tags.of("queue", queue.queue(), "state", "unacked"), queue.unacked()));
  }
}
