package io.seckill.consumer.intake;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.consumer.payment.ExpiryMessage;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param enabled false keeps the service from taking orders; the internal port still works
 * @param batch most orders of one transaction, 1..1000
 * @param prefetch most unsettled orders per queue, batch..65535; eight batches keep the writer busy
 *     while others wait for confirms or arrive. Bounds memory, about 1 kB each
 * @param linger longest wait for more orders when there are fewer than a batch, 0..5 ms
 * @param maxAttempts attempts to store a single order that MySQL refuses, 1..100, before it becomes
 *     a dead letter
 * @param retryPause before its second attempt, doubled for each further one, 10 ms to 10 s
 * @param stopTimeout longest time to settle the batches already taken when the service stops, 1..18
 *     s
 */
@ConfigurationProperties("seckill.intake")
record IntakeProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("500") int batch,
    @DefaultValue("4000") int prefetch,
    @DefaultValue("2ms") Duration linger,
    @DefaultValue("5") int maxAttempts,
    @DefaultValue("200ms") Duration retryPause,
    @DefaultValue("12s") Duration stopTimeout) {

  /** The orders of a batch share one expiry message. */
  private static final int MAX_BATCH = ExpiryMessage.MAX_ORDERS;

  IntakeProperties {
    check(batch >= 1 && batch <= MAX_BATCH, "seckill.intake.batch must be 1..1000 but is " + batch);
    check(prefetch >= batch && prefetch <= 65_535, "seckill.intake.prefetch must be batch..65535");
    check(!linger.isNegative() && linger.toMillis() <= 5, "seckill.intake.linger must be 0..5ms");
    check(maxAttempts >= 1 && maxAttempts <= 100, "seckill.intake.max-attempts must be 1..100");
    check(
        retryPause.toMillis() >= 10 && retryPause.toMillis() <= 10_000,
        "seckill.intake.retry-pause must be 10ms..10s");
    check(
        stopTimeout.toMillis() >= 1_000 && stopTimeout.toMillis() <= 18_000,
        "seckill.intake.stop-timeout must be 1s..18s");
  }
}
