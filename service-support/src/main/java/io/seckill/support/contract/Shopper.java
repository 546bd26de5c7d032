package io.seckill.support.contract;

import io.seckill.support.web.RequestChecks;

/** The owner of an order, as verified by the gateway. */
public record Shopper(long userId) {

  public Shopper {
    RequestChecks.integer("userId", userId, 1, Long.MAX_VALUE);
  }
}
