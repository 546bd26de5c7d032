package io.seckill.gateway.ops;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A snapshot of the gateway's metrics; docs/metrics.md explains them. */
@RestController
record MetricsController(
    MeterRegistry meters,
    LaneRegistry registry,
    @Qualifier("operatorRedisCalls") BlockingCalls calls,
    ConsumerClient consumer) {

  @GetMapping("/api/v1/metrics/summary")
  Mono<JsonNode> summary() {
    return Mono.zip(orEmpty(calls.call(registry::read)), orEmpty(consumer.metrics()))
        .map(read -> summary(read.getT1(), read.getT2().orElse(null)));
  }

  private static <T> Mono<Optional<T>> orEmpty(Mono<T> read) {
    return read.map(Optional::of).onErrorReturn(Optional.empty());
  }

  /** The members and their meanings are in admin.yaml. */
  private JsonNode summary(Optional<Lanes> lanes, @Nullable JsonNode ofConsumer) {
    return object()
        .put("readAt", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString())
        .put("uptimeSeconds", ManagementFactory.getRuntimeMXBean().getUptime() / 1_000)
        .put("purchases", count("seckill.purchases"))
        .put("admitted", count("seckill.admitted"))
        .put("confirmed", count("seckill.confirmed"))
        .put("idempotentHits", count("seckill.idempotent.hits"))
        .put("busy", count("seckill.busy"))
        .set("refused", counts("seckill.refused", "reason"))
        .set("unknown", counts("seckill.unknown", "cause"))
        .set("refusedRequests", counts("seckill.requests.refused", "code"))
        .set("latency", latency("seckill.admission.latency"))
        .set("strongLatency", latency("seckill.strong.latency"))
        .set(
            "shield",
            object()
                .put("hits", count("seckill.shield.hits"))
                .put("misses", count("seckill.shield.misses")))
        .set(
            "redis",
            object()
                .set("errors", counts("seckill.redis.errors", "kind"))
                .put("verified", gauge("seckill.redis.verified") == 1)
                .put("quarantinedSkus", gauge("seckill.quarantined.skus")))
        .set("breakers", breakers(meters))
        .set("waiting", byTag("queue", meters.get("seckill.queue.depth").gauges(), Gauge::value))
        .set("outbox", lanes.map(MetricsController::outbox).orElse(null))
        .set("lanes", lanes.map(MetricsController::lanes).orElse(null))
        .set("consumer", ofConsumer);
  }

  static ObjectNode breakers(MeterRegistry meters) {
    SortedMap<String, JsonNode> breakers = new TreeMap<>();
    for (Gauge state : meters.get("seckill.breaker.state").gauges()) {
      if (state.value() == 1) {
        String name = tag(state, "breaker");
        Collection<Counter> transitions =
            meters.get("seckill.breaker.transitions").tag("breaker", name).counters();
        breakers.put(
            name,
            object()
                .put("state", tag(state, "state"))
                .set("transitions", byTag("to", transitions, Counter::count)));
      }
    }
    return object().setAll(breakers);
  }

  private ObjectNode latency(String name) {
    HistogramSnapshot snapshot = meters.get(name).timer().takeSnapshot();
    ObjectNode within = object();
    for (CountAtBucket bucket : snapshot.histogramCounts()) {
      within.put(Long.toString((long) bucket.bucket(TimeUnit.MILLISECONDS)), (long) bucket.count());
    }
    return object()
        .put("count", snapshot.count())
        .put("meanMs", snapshot.mean(TimeUnit.MILLISECONDS))
        .put("maxMs", snapshot.max(TimeUnit.MILLISECONDS))
        .set("withinMs", within);
  }

  static @Nullable ObjectNode outbox(Lanes lanes) {
    if (!lanes.unavailable().isEmpty()) { // a sum without them would look like the sum of all
      return null;
    }
    return object()
        .put("orders", lanes.outboxes().stream().mapToLong(Lanes.Outbox::orders).sum())
        .put(
            "oldestMs",
            lanes.outboxes().stream().mapToLong(Lanes.Outbox::oldestMs).max().orElse(0));
  }

  static @Nullable ObjectNode lanes(Lanes lanes) {
    if (!lanes.unavailable().isEmpty()) {
      return null;
    }
    ObjectNode byState = object();
    for (Lanes.LeaseState state : Lanes.LeaseState.values()) {
      byState.put(
          state.name().toLowerCase(Locale.ROOT),
          lanes.lanes().stream().filter(lane -> lane.state() == state).count());
    }
    return byState;
  }

  private long count(String name) {
    return (long) meters.get(name).counter().count();
  }

  private long gauge(String name) {
    return (long) meters.get(name).gauge().value();
  }

  private ObjectNode counts(String name, String tag) {
    return byTag(tag, meters.get(name).counters(), Counter::count);
  }

  private static <M extends Meter> ObjectNode byTag(
      String tag, Collection<M> meters, ToDoubleFunction<M> value) {
    SortedMap<String, Long> values = new TreeMap<>();
    meters.forEach(
        meter -> values.merge(tag(meter, tag), (long) value.applyAsDouble(meter), Long::sum));
    ObjectNode byTag = object();
    values.forEach(byTag::put);
    return byTag;
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  private static String tag(Meter meter, String name) {
    return String.valueOf(meter.getId().getTag(name));
  }
}
