package io.seckill.gateway.ops;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.seckill.gateway.backends.BlockingCalls;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A snapshot of the gateway's metrics; docs/metrics.md explains them. */
@RestController
final class MetricsController {

  private final MeterRegistry meters;
  private final LaneRegistry registry;
  private final BlockingCalls calls;

  MetricsController(
      MeterRegistry meters,
      LaneRegistry registry,
      @Qualifier("operatorRedisCalls") BlockingCalls calls) {
    this.meters = meters;
    this.registry = registry;
    this.calls = calls;
  }

  @GetMapping("/api/v1/metrics/summary")
  Mono<MetricsSummary> summary() {
    return calls.call(registry::read).map(this::summary);
  }

  private MetricsSummary summary(Lanes lanes) {
    return new MetricsSummary(
        Instant.now().truncatedTo(ChronoUnit.MILLIS),
        count("seckill.purchases"),
        count("seckill.admitted"),
        count("seckill.confirmed"),
        count("seckill.idempotent.hits"),
        count("seckill.busy"),
        counts("seckill.refused", "reason"),
        counts("seckill.unknown", "cause"),
        latency(meters.get("seckill.admission.latency").timer()),
        new MetricsSummary.Shield(count("seckill.shield.hits"), count("seckill.shield.misses")),
        redis(),
        byTag("queue", meters.get("seckill.queue.depth").gauges(), Gauge::value),
        outbox(lanes),
        lanes(lanes));
  }

  private MetricsSummary.Redis redis() {
    String breaker =
        meters.get("seckill.breaker.state").gauges().stream()
            .filter(gauge -> gauge.value() == 1)
            .map(gauge -> String.valueOf(gauge.getId().getTag("state")))
            .max(Comparator.naturalOrder()) // of several: open, then half_open, then closed
            .orElse("unknown");
    return new MetricsSummary.Redis(
        counts("seckill.redis.errors", "kind"),
        breaker,
        counts("seckill.breaker.transitions", "to"),
        meters.get("seckill.redis.verified").gauge().value() == 1,
        (long) meters.get("seckill.quarantined.skus").gauge().value());
  }

  private static MetricsSummary.Latency latency(Timer timer) {
    HistogramSnapshot snapshot = timer.takeSnapshot();
    Map<String, Long> within = new LinkedHashMap<>();
    for (CountAtBucket bucket : snapshot.histogramCounts()) {
      within.put(Long.toString((long) bucket.bucket(TimeUnit.MILLISECONDS)), (long) bucket.count());
    }
    return new MetricsSummary.Latency(
        snapshot.count(),
        snapshot.mean(TimeUnit.MILLISECONDS),
        snapshot.max(TimeUnit.MILLISECONDS),
        within);
  }

  private static MetricsSummary.Outbox outbox(Lanes lanes) {
    return new MetricsSummary.Outbox(
        lanes.outboxes().stream().mapToLong(Lanes.Outbox::orders).sum(),
        lanes.outboxes().stream().mapToLong(Lanes.Outbox::oldestMs).max().orElse(0));
  }

  private static Map<String, Long> lanes(Lanes lanes) {
    Map<String, Long> byState = new TreeMap<>();
    for (Lanes.State state : Lanes.State.values()) {
      byState.put(
          state.name().toLowerCase(Locale.ROOT),
          lanes.lanes().stream().filter(lane -> lane.state() == state).count());
    }
    return byState;
  }

  private long count(String name) {
    return (long) meters.get(name).counter().count();
  }

  private Map<String, Long> counts(String name, String tag) {
    return byTag(tag, meters.get(name).counters(), Counter::count);
  }

  private static <M extends Meter> Map<String, Long> byTag(
      String tag, Collection<M> meters, ToDoubleFunction<M> value) {
    Map<String, Long> values = new TreeMap<>();
    meters.forEach(
        meter ->
            values.put(
                String.valueOf(meter.getId().getTag(tag)), (long) value.applyAsDouble(meter)));
    return values;
  }
}
