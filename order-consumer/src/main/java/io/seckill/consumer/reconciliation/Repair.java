package io.seckill.consumer.reconciliation;

import org.jspecify.annotations.Nullable;

/**
 * One thing that was set right, or would be.
 *
 * @param subject an order id, a user, or a SKU
 * @param found what Redis had
 * @param wanted what it should have
 * @param made false in a dry run, and when something moved meanwhile: the next run looks again
 */
record Repair(RepairKind kind, String subject, String found, String wanted, boolean made) {

  /** Another finding about the same thing is the same repair. */
  record Key(RepairKind kind, String subject) {}

  Key key() {
    return new Key(kind, subject);
  }

  /** The same, found again by a later comparison. */
  Repair foundAgain(Repair later) {
    return new Repair(kind, subject, found, later.wanted(), later.made());
  }

  static Repair of(
      RepairKind kind, Object subject, @Nullable Object found, Object wanted, boolean made) {
    return new Repair(
        kind, String.valueOf(subject), String.valueOf(found), String.valueOf(wanted), made);
  }
}
