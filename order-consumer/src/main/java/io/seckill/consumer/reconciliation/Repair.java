package io.seckill.consumer.reconciliation;

import org.jspecify.annotations.Nullable;

/**
 * One difference that was repaired, or would be.
 *
 * @param subject an order id, a user, or a SKU
 * @param found the value in Redis
 * @param wanted the value that it should have
 * @param made false in a dry run, and when the data changed meanwhile: the next run checks again
 */
record Repair(RepairKind kind, String subject, String found, String wanted, boolean made) {

  /** Another finding of the same kind about the same subject is the same repair. */
  record Key(RepairKind kind, String subject) {}

  Key key() {
    return new Key(kind, subject);
  }

  Repair foundAgain(Repair later) {
    return new Repair(kind, subject, found, later.wanted(), later.made());
  }

  static Repair of(
      RepairKind kind, Object subject, @Nullable Object found, Object wanted, boolean made) {
    return new Repair(
        kind, String.valueOf(subject), String.valueOf(found), String.valueOf(wanted), made);
  }
}
