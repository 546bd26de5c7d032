package io.seckill.consumer.shards;

/**
 * The units of no shard, as MySQL has them at one moment.
 *
 * @param units in the SKU's own row
 * @param version of that row: raised by every move
 * @param moving units of unfinished moves, which may be in a shard, too
 * @param moves number of those
 * @param withdrawn units that unfinished withdrawals of the SKU wait for
 * @param inRedis number of shards that Redis decides
 */
record Pool(long units, long version, long moving, long moves, long withdrawn, long inRedis) {

  /** Units that may be given to shards. */
  long free() {
    return Math.max(0, units - withdrawn);
  }

  /** Whether withdrawals wait for more units: what is taken now is theirs. */
  boolean isOwed() {
    return withdrawn > units;
  }

  /** Units that may be given although withdrawals wait for more than these. */
  long toGive() {
    return isOwed() ? units : free();
  }

  /** Most units that are in no shard's stock in Redis. */
  long outside() {
    return units + moving;
  }
}
