package io.seckill.consumer.reconciliation;

/** How a reconciliation ended. */
enum RunOutcome {
  /** MySQL has no sale that Redis should have: it was never preheated, or closed and removed. */
  NOT_ON_SALE,
  /** Redis and MySQL agree. */
  CLEAN,
  /** They did not agree; see the repairs. */
  REPAIRED,
  /**
   * A dry run, data changed during the repairs, or there may be more than one run finds: not all
   * differences are repaired yet.
   */
  FOUND,
  /**
   * Redis has lost the sale, and this run was not allowed to rebuild it, or had begun to compare.
   */
  LOST,
  /** Redis had lost the sale, and has it again. */
  REBUILT,
  /**
   * Orders were still in flight at the time-out, so nothing could be proven. A sale whose rebuild
   * has begun stays closed, and the next run continues.
   */
  UNPROVEN
}
