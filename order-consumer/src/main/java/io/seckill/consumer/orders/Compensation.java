package io.seckill.consumer.orders;

import io.seckill.common.order.OrderId;
import org.jspecify.annotations.Nullable;

/**
 * Units to return to Redis for one order.
 *
 * @param epoch of the sale to whose stock they return: for a rejected order the epoch of its
 *     message, for a cancelled or expired order {@code products.epoch} as read, under the row's
 *     lock, in the transaction that returns the stock in MySQL. Redis ignores an older epoch,
 *     because a later loading has counted those units already, unless it counted the order as an
 *     unsettled dead letter: then they move to its epoch
 * @param stockUnits 0 when the stock of Redis is known to be wrong and left to reconciliation
 * @param quotaUnits 0 when the SKU keeps no quota, or the quota of Redis is left to reconciliation
 * @param requestId idempotency key of the order, which Redis forgets some time after it; null when
 *     MySQL does not have the order any more
 */
public record Compensation(
    OrderId orderId,
    long skuId,
    long userId,
    long epoch,
    int stockUnits,
    int quotaUnits,
    @Nullable String requestId) {

  public Compensation {
    if (stockUnits < 0 || quotaUnits < 0 || stockUnits + quotaUnits == 0) {
      throw new IllegalArgumentException("a compensation returns something: " + orderId);
    }
  }
}
