package io.seckill.consumer.archive;

/** The work of an archive now; each is begun when the one before it is complete. */
enum ArchivePhase {
  /** Redis loses the sale; every message of it that was published comes to its end. */
  REDIS,
  /** Orders, aliases and payments move to history tables; their compensations are deleted. */
  ORDERS,
  /** Quotas, and what else is left, are deleted: the history shows the same. */
  REST,
  DONE,
  /** The history is deleted, too; the sums stay. */
  PURGED;

  ArchivePhase next() {
    return switch (this) {
      case REDIS -> ORDERS;
      case ORDERS -> REST;
      case REST -> DONE;
      case DONE, PURGED -> PURGED;
    };
  }
}
