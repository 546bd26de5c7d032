package io.seckill.consumer.shards;

/** What the mover must never do; a mutation calls it instead of the method of the same name. */
public final class MutantShards {

  private MutantShards() {}

  /** As if no unit ever came to a shard behind the reader. */
  static long supply(ShardState shard) {
    return shard.epoch();
  }

  /** As if nobody waited. */
  static long asked(ShardState shard) {
    return 0;
  }
}
