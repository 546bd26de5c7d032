package io.seckill.consumer.loading;

import io.seckill.consumer.products.ProductSnapshot;
import java.util.Optional;

/** The consent of operators to give up orders of a sale that MySQL has lost. */
public interface LostOrderConsent {

  /**
   * The orders of a sale that Redis has and MySQL lacks.
   *
   * @param orders how many
   * @param objection why they may not be given up, for operators; empty when they may
   */
  record Review(long orders, Optional<String> objection) {}

  /** Whether an operator has looked at the orders of the sale in this epoch. */
  boolean hasDryRun(long skuId, long epoch);

  /**
   * Compares the orders that Redis has and MySQL lacks with those that operators have looked at.
   * Blocks, for as long as the sale's data take to read.
   *
   * @param sale not running, with no order in flight
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  Review review(ProductSnapshot sale);
}
