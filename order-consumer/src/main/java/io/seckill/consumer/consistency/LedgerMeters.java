package io.seckill.consumer.consistency;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Publishes the ledger as gauges, one per balance item and periodically read SKU. The reading
 * thread sets their values, so that a scrape queries no store.
 */
@Component
class LedgerMeters {

  private final MultiGauge units;
  private final MultiGauge orders;
  private final MultiGauge differences;
  private final MultiGauge unbalanced;
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
    List<Row<?>> unitRows = new ArrayList<>();
    List<Row<?>> orderRows = new ArrayList<>();
    List<Row<?>> differenceRows = new ArrayList<>();
    List<Row<?>> unbalancedRows = new ArrayList<>();
    List<Row<?>> queueRows = new ArrayList<>();
    for (SkuLedger ledger : ledgers) {
      String sku = Long.toString(ledger.skuId());
      add(unitRows, sku, "term", unitTerms(ledger.units()));
      add(orderRows, sku, "term", orderTerms(ledger.orders()));
      add(differenceRows, sku, "of", differences(ledger));
      unbalancedRows.add(Row.of(Tags.of("sku", sku), secondsUnbalanced(ledger, now)));
    }
    ledgers.stream()
        .map(SkuLedger::queue)
        .filter(queue -> queue != null)
        .forEach(queue -> add(queueRows, queue));
    units.register(unitRows, true);
    orders.register(orderRows, true);
    differences.register(differenceRows, true);
    unbalanced.register(unbalancedRows, true);
    queues.register(queueRows, true);
    reads.record(took);
  }

  private static void add(List<Row<?>> rows, String sku, String tag, Map<String, Long> terms) {
    terms.forEach((term, value) -> rows.add(Row.of(Tags.of("sku", sku, tag, term), value)));
  }

  private static void add(List<Row<?>> rows, SkuLedger.Queue queue) {
    rows.add(Row.of(Tags.of("queue", queue.queue(), "state", "ready"), queue.ready()));
    rows.add(Row.of(Tags.of("queue", queue.queue(), "state", "unacked"), queue.unacked()));
  }

  private static Map<String, Long> unitTerms(SkuLedger.Units units) {
    return Map.ofEntries(
        Map.entry("initial", units.initial()),
        Map.entry("added", units.added()),
        Map.entry("withdrawn", units.withdrawn()),
        Map.entry("stock", units.stock()),
        Map.entry("outbox_and_private_queues", units.outboxAndPrivateQueues()),
        Map.entry("broker", units.broker()),
        Map.entry("dead_letters", units.deadLetters()),
        Map.entry("confirmed", units.confirmed()),
        Map.entry("paid", units.paid()),
        Map.entry("compensating", units.compensating()),
        Map.entry("changing", units.changing()));
  }

  private static Map<String, Long> orderTerms(SkuLedger.Orders orders) {
    return Map.of(
        "admitted", orders.admitted(),
        "outbox_and_private_queues", orders.outboxAndPrivateQueues(),
        "broker", orders.broker(),
        "dead_letters", orders.deadLetters(),
        "confirmed", orders.confirmed(),
        "paid", orders.paid(),
        "cancelled", orders.cancelled(),
        "expired", orders.expired(),
        "rejected", orders.rejected(),
        "aliases", orders.aliases());
  }

  /** Reports a queue's difference below 0 as 0, because that is no imbalance. */
  private static Map<String, Long> differences(SkuLedger ledger) {
    SkuLedger.Queue queue = ledger.queue();
    return Map.of(
        "units", ledger.units().difference(),
        "orders", ledger.orders().difference(),
        "mysql", ledger.mysql().difference(),
        "partition", ledger.partition().difference(),
        "queue", queue == null ? 0 : Math.max(0, queue.difference()));
  }

  private static double secondsUnbalanced(SkuLedger ledger, Instant now) {
    Instant since = ledger.unbalancedSince();
    return since == null ? 0 : Math.max(0, Duration.between(since, now).toMillis() / 1e3);
  }
}
