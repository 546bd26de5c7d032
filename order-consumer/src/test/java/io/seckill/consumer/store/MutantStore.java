package io.seckill.consumer.store;

import io.seckill.common.order.OrderMessage;

/** Rejects orders for no reason; a mutation asks it for what was ordered. */
public final class MutantStore {

  private static final int EVERY = 20;
  private static final int ABOVE_ANY_LIMIT = 1_000_000;

  private MutantStore() {}

  /** Says of one order in 20 of a sale that it is above the limit. */
  static int quantity(OrderMessage order) {
    return order.seq() % EVERY == 0 ? ABOVE_ANY_LIMIT : order.quantity();
  }
}
