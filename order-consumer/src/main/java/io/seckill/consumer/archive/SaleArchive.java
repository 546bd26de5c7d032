package io.seckill.consumer.archive;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far the archive of a sale is; a row of {@code archive}.
 *
 * @param startedBy the operator, or "schedule"
 * @param doneAt null until everything is moved
 */
record SaleArchive(
    long skuId,
    ArchivePhase phase,
    String startedBy,
    Instant startedAt,
    long orders,
    @Nullable Instant doneAt) {

  /** The archive of a SKU with that of a shard: as far as the one that is behind. */
  SaleArchive with(SaleArchive shard) {
    boolean isBehind = shard.phase.compareTo(phase) < 0;
    return new SaleArchive(
        skuId,
        isBehind ? shard.phase : phase,
        startedBy,
        startedAt,
        orders + shard.orders,
        isBehind ? shard.doneAt : doneAt);
  }
}
