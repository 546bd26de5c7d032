package io.seckill.consumer.shards;

import java.util.List;
import java.util.OptionalLong;

/**
 * Proves how many units of a SKU there are, at most, and so how many are outside of a shard. One
 * pass over the shards proves nothing: a unit may come to a shard behind the reader. Of two passes
 * the second shows whether any did. Between them each shard had at most what the first pass found,
 * and so did all together.
 */
final class Elsewhere {

  private Elsewhere() {}

  /**
   * @param before the pool, read before the first pass
   * @param first pass over all shards, by which every shard was read before the second began
   * @param after the pool, read after the second pass
   * @return most units of all shards and of none, between the passes; empty when units were added,
   *     withdrawn, returned or moved meanwhile, or a shard was not read, or MySQL sells one
   */
  static OptionalLong proven(
      int shards, Pool before, List<ShardState> first, List<ShardState> second, Pool after) {
    if (before.inRedis() != shards
        || first.size() != shards
        || second.size() != shards
        || !before.equals(after)) {
      return OptionalLong.empty();
    }
    for (int n = 0; n < shards; n++) {
      ShardState was = first.get(n);
      ShardState is = second.get(n);
      if (was.id() != is.id() || was.epoch() != is.epoch() || was.supply() != is.supply()) {
        return OptionalLong.empty();
      }
    }
    long all = before.outside() + first.stream().mapToLong(ShardState::stock).sum();
    return OptionalLong.of(all);
  }
}
