package io.seckill.consumer.reconciliation;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counters of reconciliation. Every tag value is registered at start, so that an alert sees the
 * first increment.
 */
final class ReconciliationMeters {

  private final MeterRegistry meters;

  ReconciliationMeters(MeterRegistry meters) {
    this.meters = meters;
    for (Outcome outcome : Outcome.values()) {
      runs(outcome);
    }
    for (RepairKind kind : RepairKind.values()) {
      of(kind);
    }
  }

  /** Counts a run, its repairs that were made, and the differences that it only reports. */
  void count(Outcome outcome, RepairLog repairs) {
    runs(outcome).increment();
    repairs.countsMade().forEach((kind, made) -> of(kind).increment(made));
    repairs
        .counts()
        .forEach((kind, found) -> of(kind).increment(kind.isOnlyReported() ? found : 0));
  }

  private Counter runs(Outcome outcome) {
    return Counter.builder("seckill.consumer.reconciliations")
        .description("Runs of the reconciliation, of one SKU each")
        .tag("outcome", outcome.name())
        .register(meters);
  }

  private Counter of(RepairKind kind) {
    Counter.Builder counter =
        kind.isOnlyReported()
            ? Counter.builder("seckill.consumer.findings")
                .description("What the reconciliation has only reported, again in each run")
            : Counter.builder("seckill.consumer.repairs")
                .description("What the reconciliation has set right");
    return counter.tag("kind", kind.name()).register(meters);
  }
}
