package io.seckill.consumer.payment;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param timeout how long a stored order waits for its payment, 1 s..7 d. A change applies to every
 *     order that is not paid yet: after a restore it is longer by the outage
 * @param provider {@code wallet} for payments from wallets, else {@code installed}
 * @param callbackSecret key of the provider's signatures, at least 32 characters; without one the
 *     callback is disabled
 * @param simulatedDeclineFromCents amount from which the simulated provider declines; null for
 *     never
 */
@ConfigurationProperties("seckill.payment")
record PaymentProperties(
    @DefaultValue("30m") Duration timeout,
    @DefaultValue("installed") String provider,
    @Nullable String callbackSecret,
    @Nullable Long simulatedDeclineFromCents) {

  private static final int MIN_SECRET_LENGTH = 32;

  PaymentProperties {
    check(
        isWithin(timeout, Duration.ofSeconds(1), Duration.ofDays(7)),
        "seckill.payment.timeout must be 1s..7d but is " + timeout);
    check(
        provider.equals("installed") || provider.equals("wallet"),
        "seckill.payment.provider must be installed or wallet but is " + provider);
    callbackSecret = callbackSecret == null || callbackSecret.isEmpty() ? null : callbackSecret;
    check(
        callbackSecret == null || callbackSecret.length() >= MIN_SECRET_LENGTH,
        "seckill.payment.callback-secret must have at least 32 characters");
    check(
        simulatedDeclineFromCents == null || simulatedDeclineFromCents >= 0,
        "seckill.payment.simulated-decline-from-cents must not be negative");
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "PaymentProperties[timeout=" + timeout + "]";
  }
}
