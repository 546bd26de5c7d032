package io.seckill.consumer.orders;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param sweepInterval pause between two sweeps for units Redis has not confirmed, 100 ms to 5 min
 * @param sweepPage rows read at once, 1..10 000
 */
@ConfigurationProperties("seckill.compensation")
record CompensationProperties(
    @DefaultValue("2s") Duration sweepInterval, @DefaultValue("500") int sweepPage) {

  CompensationProperties {
    check(
        sweepInterval.toMillis() >= 100 && sweepInterval.toMinutes() <= 5,
        "seckill.compensation.sweep-interval must be 100ms..5m but is " + sweepInterval);
    check(
        sweepPage >= 1 && sweepPage <= 10_000,
        "seckill.compensation.sweep-page must be 1..10000 but is " + sweepPage);
  }
}
