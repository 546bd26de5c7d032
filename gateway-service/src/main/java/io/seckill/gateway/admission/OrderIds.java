package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import org.jspecify.annotations.Nullable;

/** Source of order ids. */
@FunctionalInterface
interface OrderIds {

  /**
   * Returns a new id, unique over all gateways.
   *
   * @param partition 0..15
   * @return null while this gateway holds no worker number
   */
  @Nullable OrderId next(int partition);
}
