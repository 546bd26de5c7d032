package io.seckill.consumer.payment;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;
import java.util.List;
import org.springframework.stereotype.Component;

/** Counts what happens to orders after CONFIRMED. */
@Component
class LifecycleMeters {

  private static final List<OrderStatus> ENDS =
      List.of(OrderStatus.PAID, OrderStatus.CANCELLED, OrderStatus.EXPIRED);

  private final MeterRegistry meters;
  private final Counter refunds;

  LifecycleMeters(MeterRegistry meters) {
    this.meters = meters;
    ENDS.forEach(this::counter);
    this.refunds =
        Counter.builder("seckill.consumer.refunds")
            .description("Charges given back because the order had ended before")
            .register(meters);
  }

  /**
   * @param status PAID, CANCELLED or EXPIRED
   */
  void ended(OrderStatus status, int orders) {
    counter(status).increment(orders);
  }

  private Counter counter(OrderStatus status) {
    return Counter.builder("seckill.consumer.orders.ended")
        .description("Orders that went on from CONFIRMED")
        .tag("status", status.name())
        .register(meters);
  }

  void refunded() {
    refunds.increment();
  }
}
