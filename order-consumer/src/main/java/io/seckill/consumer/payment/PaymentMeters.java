package io.seckill.consumer.payment;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.orders.Cancellations;
import java.util.function.Supplier;
import org.springframework.stereotype.Component;

/** Counts payments and refunds. */
@Component
class PaymentMeters {

  private final MeterRegistry meters;
  private final Counter paid;
  private final Counter refunds;
  private final Counter callbacksRefused;
  private final DistributionSummary batchSize;

  PaymentMeters(MeterRegistry meters) {
    this.meters = meters;
    this.paid = Cancellations.counter(meters, OrderStatus.PAID);
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

  void settled(int outcomes) {
    batchSize.record(outcomes);
  }

  void paid(int orders) {
    paid.increment(orders);
  }

  void callbackRefused() {
    callbacksRefused.increment();
  }

  void refunded() {
    refunds.increment();
  }
}
