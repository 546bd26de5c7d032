package io.seckill.gateway.admission;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.gateway.admission.Admission.Cause;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What the purchase path counts; no tag grows with SKUs or shoppers. */
final class AdmissionMetrics {

  private final Counter requests;
  private final Counter admitted;
  private final Counter repeated;
  private final Counter busy;
  private final Counter shieldHits;
  private final Counter shieldMisses;
  private final Map<Refusal, Counter> refused = new EnumMap<>(Refusal.class);
  private final Map<Cause, Counter> unknown = new EnumMap<>(Cause.class);
  private final Timer latency;

  AdmissionMetrics(MeterRegistry meters) {
    this.requests = meters.counter("seckill.purchases");
    this.admitted = meters.counter("seckill.admitted");
    this.repeated = meters.counter("seckill.idempotent.hits");
    this.busy = meters.counter("seckill.busy");
    this.shieldHits = meters.counter("seckill.shield.hits");
    this.shieldMisses = meters.counter("seckill.shield.misses");
    for (Refusal reason : Refusal.values()) {
      refused.put(reason, meters.counter("seckill.refused", "reason", tag(reason)));
    }
    for (Cause cause : Cause.values()) {
      unknown.put(cause, meters.counter("seckill.unknown", "cause", tag(cause)));
    }
    this.latency =
        Timer.builder("seckill.admission.latency")
            .description("From a checked purchase to its outcome")
            .serviceLevelObjectives(
                Duration.ofMillis(1),
                Duration.ofMillis(2),
                Duration.ofMillis(5),
                Duration.ofMillis(10),
                Duration.ofMillis(20),
                Duration.ofMillis(50),
                Duration.ofMillis(100),
                Duration.ofMillis(300))
            .register(meters);
  }

  void request() {
    requests.increment();
  }

  void shieldHit() {
    shieldHits.increment();
  }

  void shieldMiss() {
    shieldMisses.increment();
  }

  void outcome(Admission outcome, long nanos) {
    latency.record(nanos, TimeUnit.NANOSECONDS);
    counter(outcome).increment();
  }

  @SuppressWarnings("NullAway") // the maps hold every constant
  private Counter counter(Admission outcome) {
    if (outcome instanceof Admission.Admitted) {
      return admitted;
    } else if (outcome instanceof Admission.Repeated) {
      return repeated;
    } else if (outcome instanceof Admission.Refused no) {
      return refused.get(no.reason());
    } else if (outcome instanceof Admission.Unknown open) {
      return unknown.get(open.cause());
    }
    return busy;
  }

  private static String tag(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
