package io.seckill.consumer.payment;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.stereotype.Component;

/** Counts payments, cancellations and expiries. */
@Component
class LifecycleMeters {

  private static final List<OrderStatus> ENDS =
      List.of(OrderStatus.PAID, OrderStatus.CANCELLED, OrderStatus.EXPIRED);

  private final MeterRegistry meters;
  private final Counter refunds;
  private final Counter callbacksRefused;
  private final DistributionSummary batchSize;

  LifecycleMeters(MeterRegistry meters) {
    this.meters = meters;
    ENDS.forEach(this::counter);
    this.refunds =
        Counter.builder("seckill.consumer.refunds")
            .description("Charges given back because the order had ended before")
            .register(meters);
    this.callbacksRefused =
        Counter.builder("seckill.consumer.payment.callbacks.refused")
            .description("Callbacks without a valid signature")
            .register(meters);
    this.batchSize =
        DistributionSummary.builder("seckill.consumer.payment.batch.size")
            .description("Answers of the payment provider stored by a transaction")
            .serviceLevelObjectives(1, 2, 5, 10, 20, 50, 100)
            .register(meters);
  }

  /** Registers how many payments wait for a batch in progress to end. */
  void waiting(Supplier<Number> payments) {
    Gauge.builder("seckill.consumer.payments.waiting", payments)
        .description("Payments that wait for the batch before theirs")
        .register(meters);
  }

  /**
   * @param outcomes of one transaction
   */
  void settled(int outcomes) {
    batchSize.record(outcomes);
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

  void callbackRefused() {
    callbacksRefused.increment();
  }

  void refunded() {
    refunds.increment();
  }
}
