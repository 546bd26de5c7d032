package io.seckill.gateway.ops;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** A snapshot of the gateway's metrics; docs/metrics.md explains them. */
@RestController
final class MetricsController {

  private final MeterRegistry meters;
  private final LaneRegistry registry;
  private final BlockingCalls calls;
  private final ConsumerClient consumer;

  MetricsController(
      MeterRegistry meters,
      LaneRegistry registry,
      @Qualifier("operatorRedisCalls") BlockingCalls calls,
      ConsumerClient consumer) {
    this.meters = meters;
    this.registry = registry;
    this.calls = calls;
    this.consumer = consumer;
  }

  @GetMapping("/api/v1/metrics/summary")
  Mono<MetricsSummary> summary() {
    return Mono.zip(
            orEmpty(calls.call(registry::read)),
            orEmpty(consumer.metrics().map(ConsumerAnswer::body)))
        .map(read -> summary(read.getT1(), read.getT2().orElse(null)));
  }

  private static <T> Mono<Optional<T>> orEmpty(Mono<T> read) {
    return read.map(Optional::of).onErrorReturn(Optional.empty());
  }

  private MetricsSummary summary(Optional<Lanes> lanes, @Nullable JsonNode ofConsumer) {
    return new MetricsSummary(
        Instant.now().truncatedTo(ChronoUnit.MILLIS),
        TimeUnit.MILLISECONDS.toSeconds(ManagementFactory.getRuntimeMXBean().getUptime()),
        count("seckill.purchases"),
        count("seckill.admitted"),
        count("seckill.confirmed"),
        count("seckill.idempotent.hits"),
        count("seckill.busy"),
        counts("seckill.refused", "reason"),
        counts("seckill.unknown", "cause"),
        counts("seckill.requests.refused", "code"),
        latency(meters.get("seckill.admission.latency").timer()),
        latency(meters.get("seckill.strong.latency").timer()),
        new MetricsSummary.Shield(count("seckill.shield.hits"), count("seckill.shield.misses")),
        redis(),
        breakers(meters),
        byTag("queue", meters.get("seckill.queue.depth").gauges(), Gauge::value),
        lanes.map(MetricsController::outbox).orElse(null),
        lanes.map(MetricsController::lanes).orElse(null),
        ofConsumer);
  }

  private MetricsSummary.Redis redis() {
    return new MetricsSummary.Redis(
        counts("seckill.redis.errors", "kind"),
        meters.get("seckill.redis.verified").gauge().value() == 1,
        (long) meters.get("seckill.quarantined.skus").gauge().value());
  }

  static Map<String, MetricsSummary.Breaker> breakers(MeterRegistry meters) {
    Map<String, MetricsSummary.Breaker> breakers = new TreeMap<>();
    for (Gauge state : meters.get("seckill.breaker.state").gauges()) {
      if (state.value() == 1) {
        String name = tag(state, "breaker");
        Collection<Counter> transitions =
            meters.get("seckill.breaker.transitions").tag("breaker", name).counters();
        breakers.put(
            name,
            new MetricsSummary.Breaker(
                tag(state, "state"), byTag("to", transitions, Counter::count)));
      }
    }
    return breakers;
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
        meter -> values.merge(tag(meter, tag), (long) value.applyAsDouble(meter), Long::sum));
    return values;
  }

  private static String tag(Meter meter, String name) {
    return String.valueOf(meter.getId().getTag(name));
  }
}
