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
      repairs(kind);
    }
  }

  /** A run, and those of its repairs that were made. */
  void count(Outcome outcome, Collection<Repair> repairs) {
    runs(outcome).increment();
    repairs.stream().filter(Repair::made).forEach(repair -> repairs(repair.kind()).increment());
  }

  private Counter runs(Outcome outcome) {
    return Counter.builder("seckill.consumer.reconciliations")
        .description("Runs of the reconciliation, of one SKU each")
        .tag("outcome", outcome.name())
        .register(meters);
  }

  private Counter repairs(RepairKind kind) {
    return Counter.builder("seckill.consumer.repairs")
        .description("What the reconciliation has set right")
        .tag("kind", kind.name())
        .register(meters);
  }
}
