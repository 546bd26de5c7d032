package io.seckill.consumer.reconciliation;

/** How a reconciliation ended. */
enum Outcome {
  /** MySQL has no sale that Redis should know: never preheated, or closed and gone. */
  NOT_ON_SALE,
  /** Redis and MySQL agree. */
  CLEAN,
  /** They did not agree; see the repairs. */
  REPAIRED,
  /** A dry run, or repairs that met something moving: what was found is not set right yet. */
  FOUND,
  /** Redis has lost the sale, and this run was not to rebuild it. */
  LOST,
  /** Redis had lost the sale; it holds it again. */
  REBUILT,
  /**
   * Orders did not come to rest in time, so nothing could be proven; a sale whose rebuild has begun
   * stays closed, and the next run goes on.
   */
  UNPROVEN
}
