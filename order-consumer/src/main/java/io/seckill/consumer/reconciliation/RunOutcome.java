package io.seckill.consumer.reconciliation;

/** How a reconciliation ended; a later constant needs an operator more than those before it. */
enum RunOutcome {
  /** MySQL has no sale that Redis should have: it was never preheated, or closed and removed. */
  NOT_ON_SALE,
  /** Redis and MySQL agree. */
  CLEAN,
  /** They did not agree; see the repairs. */
  REPAIRED,
  /** Redis had lost the sale, and has it again. */
  REBUILT,
  /**
   * A dry run, data changed during the repairs, or there may be more than one run finds: not all
   * differences are repaired yet.
   */
  FOUND,
  /**
   * Redis has lost the sale, and this run was not allowed to rebuild it, or had begun to compare.
   */
  LOST,
  /**
   * Orders were still in flight at the time-out, so nothing could be proven. A sale whose rebuild
   * has begun stays closed, and the next run continues.
   */
  UNPROVEN
}
