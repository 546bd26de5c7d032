package io.seckill.support.contract;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.RequestChecks;

/**
 * The admissions of a SKU, up to {@code seq}, before a Redis server took over that lacks some of
 * them.
 */
public record LostAdmissions(long epoch, long seq) {

  public LostAdmissions {
    RequestChecks.integer("epoch", epoch, 1, OrderMessage.MAX_COUNT);
    RequestChecks.integer("seq", seq, 1, OrderMessage.MAX_COUNT);
  }
}
