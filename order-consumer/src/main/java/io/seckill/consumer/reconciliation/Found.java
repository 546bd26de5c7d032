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
    return new Found(outcome, detail, read.sale().epoch(), new RepairLog());
  }
}
