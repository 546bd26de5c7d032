package io.seckill.consumer.loading;

import io.seckill.consumer.products.ProductSnapshot;
import java.util.Optional;

/** The consent of operators to give up orders of a closed sale that MySQL has lost. */
public interface LostOrderConsent {

  /** Whether an operator has looked at the orders of the sale in this epoch. */
  boolean hasDryRun(long skuId, long epoch);

  /**
   * Compares the orders that Redis has and MySQL lacks with those that operators have looked at.
   * Blocks, for as long as the sale's data take to read.
   *
   * @param sale closed, with no order in flight
   * @return why they may not be given up, for operators; empty when they may
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  Optional<String> objection(ProductSnapshot sale);
}
