package io.seckill.consumer.intake;

import static io.seckill.common.settings.SettingChecks.check;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param enabled false keeps the service from taking orders; the internal port still works
 * @param batch most orders of one transaction, 1..1000
 * @param maxAttempts attempts to store a single order that MySQL refuses, 1..100, before it becomes
 *     a dead letter
 */
@ConfigurationProperties("seckill.intake")
record IntakeProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("500") int batch,
    @DefaultValue("5") int maxAttempts) {

  /** Bounds the size of its statements. */
  private static final int MAX_BATCH = 1_000;

  /** Bounds how long one delivery stays unsettled: RabbitMQ cancels its consumer in the end. */
  static final int MOST_ATTEMPTS = 100;

  IntakeProperties {
    check(
        batch >= 1 && batch <= MAX_BATCH,
        "seckill.intake.batch must be 1.." + MAX_BATCH + " but is " + batch);
    check(
        maxAttempts >= 1 && maxAttempts <= MOST_ATTEMPTS,
        "seckill.intake.max-attempts must be 1.." + MOST_ATTEMPTS);
  }
}
