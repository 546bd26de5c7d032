package io.seckill.consumer.deadletter;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param drainInterval pause between two polls of the dead queue, 50 ms to 1 min
 */
@ConfigurationProperties("seckill.dead-letter")
record DeadLetterProperties(@DefaultValue("1s") Duration drainInterval) {

  DeadLetterProperties {
    check(
        drainInterval.toMillis() >= 50 && drainInterval.toMillis() <= 60_000,
        "seckill.dead-letter.drain-interval must be 50ms..1m but is " + drainInterval);
  }
}
