package io.seckill.consumer.giveback;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param sweepInterval pause between two looks for units Redis has not confirmed, 100 ms to 5 min
 * @param sweepPage rows read at once, 1..10 000
 */
@ConfigurationProperties("seckill.give-back")
record GiveBackProperties(
    @DefaultValue("2s") Duration sweepInterval, @DefaultValue("500") int sweepPage) {

  GiveBackProperties {
    if (sweepInterval.toMillis() < 100 || sweepInterval.toMinutes() > 5) {
      throw new IllegalArgumentException(
          "seckill.give-back.sweep-interval must be 100ms..5m but is " + sweepInterval);
    }
    if (sweepPage < 1 || sweepPage > 10_000) {
      throw new IllegalArgumentException(
          "seckill.give-back.sweep-page must be 1..10000 but is " + sweepPage);
    }
  }
}
