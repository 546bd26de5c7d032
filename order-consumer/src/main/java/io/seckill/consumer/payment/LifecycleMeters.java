package io.seckill.consumer.payment;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Counts what happens to orders after CONFIRMED. */
@Component
class LifecycleMeters {

  private static final List<OrderStatus> ENDS =
      List.of(OrderStatus.PAID, OrderStatus.CANCELLED, OrderStatus.EXPIRED);

  private final Map<OrderStatus, Counter> ended = new EnumMap<>(OrderStatus.class);
  private final Counter refunds;

  LifecycleMeters(MeterRegistry meters) {
    for (OrderStatus status : ENDS) {
      ended.put(
          status,
          Counter.builder("seckill.consumer.orders.ended")
              .description("Orders that went on from CONFIRMED")
              .tag("status", status.name())
              .register(meters));
    }
    this.refunds =
        Counter.builder("seckill.consumer.refunds")
            .description("Charges given back because the order had ended before")
            .register(meters);
  }

  /**
   * @param status PAID, CANCELLED or EXPIRED
   */
  void ended(OrderStatus status, int orders) {
    Counter counter = ended.get(status);
    if (counter == null) {
      throw new IllegalArgumentException(status + " is no end of a stored order");
    }
    counter.increment(orders);
  }

  void refunded() {
    refunds.increment();
  }
}
