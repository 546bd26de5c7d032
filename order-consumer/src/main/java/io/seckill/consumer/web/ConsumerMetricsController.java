package io.seckill.consumer.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.SortedMap;
import java.util.TreeMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A part of this process's metrics, for the summary that gateways show to operators. */
@RestController
record ConsumerMetricsController(MeterRegistry meters) {

  /** Counts since the start of this process; admin.yaml has their meanings. */
  @GetMapping("/internal/v1/metrics/summary")
  JsonNode summary() {
    return object()
        .put("uptimeSeconds", ManagementFactory.getRuntimeMXBean().getUptime() / 1_000)
        .put("stored", count("seckill.consumer.stored"))
        .set("rejected", counts("seckill.consumer.rejected", "reason"))
        .set("deadLetters", counts("seckill.consumer.dead.letters", "reason"))
        .set("strong", counts("seckill.consumer.strong.decided", "outcome"))
        .set(
            "fallback",
            object()
                .put("active", gauge("seckill.fallback.mode") == 1)
                .put("entered", count("seckill.fallback.entered"))
                .put("left", count("seckill.fallback.left"))
                .put("served", count("seckill.fallback.served"))
                .put("reservedUnits", gauge("seckill.fallback.reserved")));
  }

  private long count(String name) {
    return (long) meters.get(name).counter().count();
  }

  private long gauge(String name) {
    return (long) meters.get(name).gauge().value();
  }

  private ObjectNode counts(String name, String tag) {
    SortedMap<String, Long> values = new TreeMap<>();
    for (Counter counter : meters.get(name).counters()) {
      values.merge(String.valueOf(counter.getId().getTag(tag)), (long) counter.count(), Long::sum);
    }
    ObjectNode counts = object();
    values.forEach(counts::put);
    return counts;
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }
}
