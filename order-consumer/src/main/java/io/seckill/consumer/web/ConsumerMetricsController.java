package io.seckill.consumer.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A part of this process's metrics, for the summary that gateways show to operators. */
@RestController
class ConsumerMetricsController {

  private final MeterRegistry meters;

  ConsumerMetricsController(MeterRegistry meters) {
    this.meters = meters;
  }

  /**
   * Counts since the start of this process.
   *
   * @param rejected by reason
   * @param deadLetters by reason
   * @param strong purchases of strong sales, by outcome
   */
  record ConsumerMetrics(
      long uptimeSeconds,
      long stored,
      Map<String, Long> rejected,
      Map<String, Long> deadLetters,
      Map<String, Long> strong,
      FallbackMetrics fallback) {}

  /**
   * @param active while MySQL decides the sales of Redis, or the switch is under way
   * @param entered fallbacks that this process has begun
   * @param left fallbacks that this process has ended
   * @param served purchases that MySQL confirmed because Redis could not decide
   */
  record FallbackMetrics(
      boolean active, long entered, long left, long served, long reservedUnits) {}

  @GetMapping("/internal/v1/metrics/summary")
  ConsumerMetrics summary() {
    return new ConsumerMetrics(
        TimeUnit.MILLISECONDS.toSeconds(ManagementFactory.getRuntimeMXBean().getUptime()),
        count("seckill.consumer.stored"),
        counts("seckill.consumer.rejected", "reason"),
        counts("seckill.consumer.dead.letters", "reason"),
        counts("seckill.consumer.strong.decided", "outcome"),
        new FallbackMetrics(
            gauge("seckill.fallback.mode") == 1,
            count("seckill.fallback.entered"),
            count("seckill.fallback.left"),
            count("seckill.fallback.served"),
            gauge("seckill.fallback.reserved")));
  }

  private long count(String name) {
    return (long) meters.get(name).counter().count();
  }

  private long gauge(String name) {
    return (long) meters.get(name).gauge().value();
  }

  private Map<String, Long> counts(String name, String tag) {
    Map<String, Long> counts = new TreeMap<>();
    for (Counter counter : meters.get(name).counters()) {
      counts.merge(String.valueOf(counter.getId().getTag(tag)), (long) counter.count(), Long::sum);
    }
    return counts;
  }
}
