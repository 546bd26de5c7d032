package io.seckill.consumer.shards;

import io.seckill.common.sale.SalePhase;
import org.jspecify.annotations.Nullable;

/**
 * The units of no shard, as MySQL has them at one moment.
 *
 * @param units in the SKU's own row
 * @param version of that row: raised by every move
 * @param moving units of unfinished moves, which may be in a shard, too
 * @param moves number of those
 * @param withdrawn units that unfinished withdrawals of the SKU wait for
 * @param phase of all shards; null while they differ
 */
record Pool(
    long units, long version, long moving, long moves, long withdrawn, @Nullable SalePhase phase) {

  /** Units that may be given to shards. */
  long free() {
    return Math.max(0, units - withdrawn);
  }

  /** Most units that are in no shard's stock in Redis. */
  long outside() {
    return units + moving;
  }
}
