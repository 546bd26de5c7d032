package io.seckill.consumer.reconciliation;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;

/**
 * What reconciliation counts; every tag is there from the start, so that an alert sees the first.
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

  /** A run, its repairs that were made, and what it found and cannot set right. */
  void count(Outcome outcome, Collection<Repair> repairs) {
    runs(outcome).increment();
    repairs.stream()
        .filter(repair -> repair.made() || repair.kind().isOnlyReported())
        .forEach(repair -> of(repair.kind()).increment());
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
