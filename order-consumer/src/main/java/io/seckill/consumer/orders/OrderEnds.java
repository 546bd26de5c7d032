package io.seckill.consumer.orders;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;

/** The meter of the orders that went on from CONFIRMED. */
public final class OrderEnds {

  private OrderEnds() {}

  /**
   * @param status PAID, CANCELLED or EXPIRED
   */
  public static Counter counter(MeterRegistry meters, OrderStatus status) {
    return Counter.builder("seckill.consumer.orders.ended")
        .description("Orders that went on from CONFIRMED")
        .tag("status", status.name())
        .register(meters);
  }
}
