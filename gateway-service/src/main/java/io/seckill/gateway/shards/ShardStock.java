package io.seckill.gateway.shards;

import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The units of a SKU as one shard has them.
 *
 * @param stock of the shard
 * @param elsewhere at least the units outside it; -1 when they are not known
 */
record ShardStock(long stock, long elsewhere) {

  /** The reply of {@code ask.lua}. */
  static ShardStock parse(List<?> reply) {
    return new ShardStock((Long) reply.get(0), (Long) reply.get(1));
  }

  /** The refusal of a purchase of this quantity; null while units for it may be left. */
  @Nullable Outcome refusal(int quantity) {
    if (elsewhere < 0 || stock + elsewhere >= quantity) {
      return null;
    }
    return stock + elsewhere == 0 ? Outcome.SOLD_OUT : Outcome.TOO_FEW_LEFT;
  }
}
