package io.seckill.consumer.payment;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param timeout how long a stored order waits for its payment, 1 s..24 h. A change applies to
 *     every order that is not paid yet
 * @param sweepInterval pause between two sweeps for what a lost message left behind, 100 ms..10 min
 * @param sweepBatch most orders expired in one transaction, and payments read at once, 1..1000
 * @param settleAfter age at which the sweep takes over an unfinished payment from the request that
 *     began it, 1 s..1 h; also the pause before a failed refund is retried
 * @param callbackSecret key of the provider's signatures, at least 32 characters; without one the
 *     callback is disabled
 * @param callbackTolerance greatest difference between a callback's time and ours, 1 s..1 h
 * @param simulatedDeclineFromCents amount from which the simulated provider declines; null for
 *     never
 */
@ConfigurationProperties("seckill.payment")
record PaymentProperties(
    @DefaultValue("30m") Duration timeout,
    @DefaultValue("10s") Duration sweepInterval,
    @DefaultValue("200") int sweepBatch,
    @DefaultValue("30s") Duration settleAfter,
    @Nullable String callbackSecret,
    @DefaultValue("5m") Duration callbackTolerance,
    @Nullable Long simulatedDeclineFromCents) {

  private static final int MIN_SECRET_LENGTH = 32;

  PaymentProperties {
    checkBetween(timeout, Duration.ofSeconds(1), Duration.ofHours(24), "timeout");
    checkBetween(sweepInterval, Duration.ofMillis(100), Duration.ofMinutes(10), "sweep-interval");
    checkBetween(settleAfter, Duration.ofSeconds(1), Duration.ofHours(1), "settle-after");
    checkBetween(
        callbackTolerance, Duration.ofSeconds(1), Duration.ofHours(1), "callback-tolerance");
    check(sweepBatch >= 1 && sweepBatch <= 1_000, "seckill.payment.sweep-batch must be 1..1000");
    callbackSecret = callbackSecret == null || callbackSecret.isEmpty() ? null : callbackSecret;
    check(
        callbackSecret == null || callbackSecret.length() >= MIN_SECRET_LENGTH,
        "seckill.payment.callback-secret must have at least 32 characters");
    check(
        simulatedDeclineFromCents == null || simulatedDeclineFromCents >= 0,
        "seckill.payment.simulated-decline-from-cents must not be negative");
  }

  private static void checkBetween(Duration value, Duration min, Duration max, String property) {
    check(
        value.compareTo(min) >= 0 && value.compareTo(max) <= 0,
        "seckill.payment." + property + " must be from " + min + " to " + max + " but is " + value);
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "PaymentProperties[timeout=" + timeout + ", sweepInterval=" + sweepInterval + "]";
  }
}
