package io.seckill.consumer.reconciliation;

import io.seckill.consumer.reconciliation.Comparisons.Read;

/**
 * The result of a run for one sale.
 *
 * @param detail for operators
 * @param epoch of the sale when the run ended
 */
record Found(RunOutcome outcome, String detail, long epoch, RepairLog repairs) {

  static Found of(Read read, RunOutcome outcome, String detail) {
    return of(read, outcome, detail, new RepairLog());
  }

  /** The detail gets the first orders that MySQL has lost, if they are reported. */
  static Found of(Read read, RunOutcome outcome, String detail, RepairLog repairs) {
    return new Found(outcome, repairs.withLostOrders(detail), read.sale().epoch(), repairs);
  }
}
