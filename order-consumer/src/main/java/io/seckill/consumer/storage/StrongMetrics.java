package io.seckill.consumer.storage;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

final class StrongMetrics {

  private final Map<Outcome, Counter> decided = new EnumMap<>(Outcome.class);
  private final Counter conflicts;
  private final Counter served;
  private final Timer time;

  StrongMetrics(MeterRegistry meters) {
    for (Outcome outcome : Outcome.values()) {
      decided.put(
          outcome,
          Counter.builder("seckill.consumer.strong.decided")
              .tag("outcome", outcome.name())
              .description("Purchases of strong sales, by what became of them")
              .register(meters));
    }
    conflicts =
        Counter.builder("seckill.consumer.strong.conflicts")
            .description("Transactions undone because a guard refused one of their purchases")
            .register(meters);
    served =
        Counter.builder("seckill.fallback.served")
            .description("Purchases that MySQL confirmed because Redis could not decide")
            .register(meters);
    time =
        Timer.builder("seckill.consumer.strong.time")
            .description("From the arrival of a batch of one SKU to its decision")
            .publishPercentileHistogram()
            .register(meters);
  }

  void conflict() {
    conflicts.increment();
  }

  /** Counts the confirmed purchases among decisions on a sale in a fallback. */
  void served(List<StrongDecision> decisions) {
    decisions.stream()
        .filter(decision -> decision.outcome() == Outcome.CONFIRMED)
        .forEach(confirmed -> served.increment());
  }

  List<StrongDecision> count(List<StrongDecision> decisions, long nanos) {
    time.record(nanos, TimeUnit.NANOSECONDS);
    decisions.forEach(
        decision -> Objects.requireNonNull(decided.get(decision.outcome())).increment());
    return decisions;
  }
}
