package io.seckill.consumer.payment;

import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.testing.TestConsumer;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A sweep of all orders that are due. */
final class ExpirySweep {

  private ExpirySweep() {}

  /** The first round of another process: it begins at the oldest order. */
  static void by(TestConsumer consumer) {
    new Expiry(
            consumer.bean(JdbcClient.class),
            consumer.bean(Cancellations.class),
            consumer.bean(PaymentProperties.class),
            consumer.bean(Pace.class))
        .round();
  }
}
