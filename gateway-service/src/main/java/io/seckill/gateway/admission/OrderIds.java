package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import org.jspecify.annotations.Nullable;

/** Where order ids come from. */
@FunctionalInterface
interface OrderIds {

  /**
   * A new id, unique over all gateways.
   *
   * @param partition 0..15
   * @return null while this gateway holds no worker number
   */
  @Nullable OrderId next(int partition);
}
