package io.seckill.consumer.ledger;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
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

  private final Gauges units;
  private final Gauges orders;
  private final Gauges differences;
  private final Gauges unbalanced;
  private final MultiGauge ages;
  private final Gauges queues;
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
        MultiGauge.builder("seckill.ledger.age.seconds")
            .description("Time since the ledger of a SKU was read the last time")
            .register(meters);
    this.queues =
        gauge(meters, "queue.orders", "Messages ready in an order queue, and orders unacked");
    this.reads =
        Timer.builder("seckill.ledger.read")
            .description("Time to read the ledgers of all SKUs on sale")
            .register(meters);
  }

  private static Gauges gauge(MeterRegistry meters, String name, String description) {
    return new Gauges(
        MultiGauge.builder("seckill.ledger." + name).description(description).register(meters));
  }

  /** Sets the gauges to these ledgers, and removes those of other SKUs. */
  void show(Collection<SkuLedger> ledgers, Duration took, Instant now) {
    units.set(values(ledgers, "term", ledger -> terms(ledger.units())));
    orders.set(values(ledgers, "term", ledger -> terms(ledger.orders())));
    differences.set(values(ledgers, "of", LedgerMeters::differences));
    Map<Tags, Number> seconds = new HashMap<>();
    ledgers.forEach(ledger -> seconds.put(ofSku(ledger.skuId()), secondsUnbalanced(ledger, now)));
    unbalanced.set(seconds);
    Map<Tags, Number> messages = new HashMap<>();
    ledgers.stream()
        .flatMap(ledger -> ledger.sold().stream())
        .map(SkuLedger::queue)
        .filter(Objects::nonNull)
        .forEach(queue -> putMessages(messages, queue));
    queues.set(messages);
    reads.record(took);
  }

  /**
   * Shows the ages of these SKUs only.
   *
   * @param age called at every scrape, so that an age grows also while no ledger can be read; the
   *     first one given for a SKU stays
   */
  void showAges(Collection<Long> skus, LongFunction<Duration> age) {
    ages.register(
        skus.stream()
            .<Row<?>>map(
                sku -> Row.of(ofSku(sku), () -> Math.max(0, age.apply(sku).toMillis() / 1e3)))
            .toList());
  }

  private static Map<Tags, Number> values(
      Collection<SkuLedger> ledgers,
      String tag,
      Function<SkuLedger, Map<String, ? extends Number>> terms) {
    Map<Tags, Number> values = new HashMap<>();
    for (SkuLedger ledger : ledgers) {
      terms
          .apply(ledger)
          .forEach((term, value) -> values.put(ofSku(ledger.skuId()).and(tag, term), value));
    }
    return values;
  }

  private static Tags ofSku(long sku) {
    return Tags.of("sku", Long.toString(sku));
  }

  /** The terms of one side of the ledger under their JSON names, in snake case. */
  private static Map<String, Long> terms(Record side) {
    Map<String, Long> terms = SNAKE_CASE.convertValue(side, new TypeReference<>() {});
    terms.remove("difference");
    return terms;
  }

  /** Of partitions and queues of shards the largest. */
  private static Map<String, Number> differences(SkuLedger ledger) {
    return Map.of(
        "units", ledger.units().difference(),
        "orders", ledger.orders().difference(),
        "mysql", ledger.mysql().difference(),
        "partition", largest(ledger, sold -> sold.partition().difference()),
        "queue", ofQueues(ledger));
  }

  private static long largest(SkuLedger ledger, ToLongFunction<SkuLedger> difference) {
    return ledger.sold().stream()
        .map(difference::applyAsLong)
        .max(Comparator.comparingLong(Math::abs))
        .orElse(0L);
  }

  /** Unknown when none of those checked differs, and one was not checked. */
  private static double ofQueues(SkuLedger ledger) {
    long largest = largest(ledger, sold -> ofQueue(sold.queue()));
    boolean isUnknown = largest == 0 && ledger.sold().stream().anyMatch(SkuLedger::lacksQueue);
    return isUnknown ? Double.NaN : largest;
  }

  /** Below 0 it is no imbalance. */
  private static long ofQueue(SkuLedger.@Nullable Queue queue) {
    return queue == null ? 0 : Math.max(0, queue.difference());
  }

  private static double secondsUnbalanced(SkuLedger ledger, Instant now) {
    Instant since = ledger.unbalancedSince();
    return since == null ? 0 : Math.max(0, Duration.between(since, now).toMillis() / 1e3);
  }

  private static void putMessages(Map<Tags, Number> messages, SkuLedger.Queue queue) {
    Tags tags = Tags.of("queue", queue.queue());
    messages.put(tags.and("state", "ready"), queue.ready());
    messages.put(tags.and("state", "unacked"), queue.unacked());
  }

  /**
   * Gauges of one name. One that is set again stays registered: a scrape that meets both the
   * removed and the new gauge of the same tags fails as a whole.
   */
  private static final class Gauges {

    private final MultiGauge gauge;
    private volatile Map<Tags, Number> values = Map.of();

    Gauges(MultiGauge gauge) {
      this.gauge = gauge;
    }

    void set(Map<Tags, Number> latest) {
      values = latest;
      gauge.register(
          latest.keySet().stream()
              .<Row<?>>map(tags -> Row.of(tags, () -> values.getOrDefault(tags, Double.NaN)))
              .toList());
    }
  }
}
