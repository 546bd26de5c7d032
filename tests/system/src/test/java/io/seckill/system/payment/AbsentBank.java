package io.seckill.system.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import java.time.Duration;
import java.util.Optional;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The smallest provider: it is never available. */
final class AbsentBank implements PaymentProvider {

  /** Installed as docs/payment.md describes. */
  @Configuration(proxyBeanMethods = false)
  static class Installed {

    @Bean
    PaymentProvider absentBank() {
      return new AbsentBank();
    }
  }

  @Override
  public Charge charge(OrderId orderId, long amountCents) {
    throw new PaymentUnavailableException("nobody answers", null);
  }

  @Override
  public Optional<Charge.Charged> find(OrderId orderId) {
    throw new PaymentUnavailableException("nobody answers", null);
  }

  @Override
  public void refund(OrderId orderId) {
    throw new PaymentUnavailableException("nobody answers", null);
  }

  @Override
  public Duration longestBookingDelay() {
    return Duration.ofDays(1);
  }
}
