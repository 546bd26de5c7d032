package io.seckill.gateway.admission;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.gateway.admission.Admission.Unknown;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.springframework.stereotype.Component;

/** Metrics of the purchase path. No tag has a value per SKU or per shopper. */
@Component
final class AdmissionMetrics {

  private final Counter requests;
  private final Counter admitted;
  private final Counter confirmed;
  private final Counter repeated;
  private final Counter busy;
  private final Counter shieldHits;
  private final Counter shieldMisses;
  private final Map<Refusal, Counter> refused = new EnumMap<>(Refusal.class);
  private final Map<Unknown, Counter> unknown = new EnumMap<>(Unknown.class);
  private final Timer latency;
  private final Timer strongLatency;
  private final DistributionSummary batchSize;

  AdmissionMetrics(MeterRegistry meters) {
    this.requests =
        counter(meters, "seckill.purchases", "Purchases that were accepted for a decision");
    this.admitted = counter(meters, "seckill.admitted", "Purchases admitted");
    this.confirmed = counter(meters, "seckill.confirmed", "Purchases of strong sales confirmed");
    this.repeated =
        counter(
            meters,
            "seckill.idempotent.hits",
            "Repeats of a purchase, answered with its first order");
    this.busy =
        counter(
            meters,
            "seckill.busy",
            "Purchases not decided, as too many waited or other shards had units: stock not taken");
    this.shieldHits =
        counter(
            meters,
            "seckill.shield.hits",
            "Purchases without a key of a SKU just seen sold out, answered without asking Redis");
    this.shieldMisses = counter(meters, "seckill.shield.misses", "Purchases that went to Redis");
    for (Refusal reason : Refusal.values()) {
      refused.put(
          reason,
          counter(
              meters, "seckill.refused", "Purchases refused, by reason", "reason", tag(reason)));
    }
    for (Unknown cause : Unknown.values()) {
      unknown.put(
          cause,
          counter(
              meters,
              "seckill.unknown",
              "Purchases of which nobody knows yet whether they are admitted",
              "cause",
              tag(cause)));
    }
    this.latency =
        timer(meters, "seckill.admission.latency", "From a checked purchase to its outcome");
    this.strongLatency =
        timer(meters, "seckill.strong.latency", "The same for a purchase of a strong sale");
    this.batchSize =
        DistributionSummary.builder("seckill.admission.batch.size")
            .description("Purchases of a script call")
            .serviceLevelObjectives(1, 2, 4, 8, 16, 32, 64)
            .register(meters);
  }

  private static Counter counter(
      MeterRegistry meters, String name, String description, String... tags) {
    return Counter.builder(name).description(description).tags(tags).register(meters);
  }

  private static Timer timer(MeterRegistry meters, String name, String description) {
    return Timer.builder(name)
        .description(description)
        .serviceLevelObjectives(
            LongStream.of(1, 2, 5, 10, 20, 50, 100, 250, 300, 1_000, 3_000)
                .mapToObj(Duration::ofMillis)
                .toArray(Duration[]::new))
        .register(meters);
  }

  void sent(int purchases) {
    batchSize.record(purchases);
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

  void outcome(Admission outcome, boolean isStrong, long nanos) {
    (isStrong ? strongLatency : latency).record(nanos, TimeUnit.NANOSECONDS);
    counter(outcome).increment();
  }

  @SuppressWarnings("NullAway") // the maps hold every constant
  private Counter counter(Admission outcome) {
    if (outcome == Admission.Admitted.IN_WARM_UP) {
      return refused.get(Refusal.UNKNOWN_SKU);
    } else if (outcome instanceof Admission.Admitted) {
      return admitted;
    } else if (outcome instanceof Admission.Stored order && !order.isRepeat()) {
      return confirmed;
    } else if (outcome instanceof Admission.Queued || outcome instanceof Admission.Stored) {
      return repeated;
    } else if (outcome instanceof Refusal reason) {
      return refused.get(reason);
    } else if (outcome instanceof Unknown cause) {
      return unknown.get(cause);
    }
    return busy;
  }

  private static String tag(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
