package io.seckill.consumer.payment;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Clock;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts the sweeps. */
@Configuration(proxyBeanMethods = false)
class LifecycleConfiguration {

  /** Units of orders that were not paid can be bought again this soon. */
  private static final Duration EXPIRY_PAUSE = Duration.ofSeconds(1);

  private static final Duration PAID_RESULTS_PAUSE = Duration.ofSeconds(1);

  /** These find only work that a crash left unfinished, so they are not urgent. */
  private static final Duration SWEEP_PAUSE = Duration.ofSeconds(10);

  @Bean
  Sweeper expirySweeper(Expiry expiry) {
    return new Sweeper("expiry-sweep", EXPIRY_PAUSE, expiry::round);
  }

  @Bean
  Sweeper paymentSweeper(Payments payments) {
    return new Sweeper("payment-sweep", SWEEP_PAUSE, payments::sweep);
  }

  @Bean
  Sweeper chargeReportSweeper(ChargeReports reports) {
    return new Sweeper("charge-reports", SWEEP_PAUSE, reports::sweep);
  }

  @Bean
  Sweeper pendingWorkSweeper(PendingWork work) {
    return new Sweeper("pending-work", SWEEP_PAUSE, work::read);
  }

  @Bean
  Sweeper paidResultsSweeper(PaidResults paid) {
    return new Sweeper("paid-results", PAID_RESULTS_PAUSE, paid::sweep);
  }

  @Bean
  @ConditionalOnProperty("seckill.payment.callback-secret")
  CallbackSignature callbackSignature(PaymentProperties properties, Clock clock) {
    String secret = properties.callbackSecret();
    if (secret == null) {
      throw new IllegalArgumentException("seckill.payment.callback-secret must not be empty");
    }
    return new CallbackSignature(secret, clock);
  }
}
