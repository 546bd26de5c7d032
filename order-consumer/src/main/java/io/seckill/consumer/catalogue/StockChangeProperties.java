package io.seckill.consumer.catalogue;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param sweepInterval pause between two sweeps for unfinished changes, 100 ms..10 min
 */
@ConfigurationProperties("seckill.stock-change")
record StockChangeProperties(@DefaultValue("5s") Duration sweepInterval) {

  StockChangeProperties {
    check(
        sweepInterval.toMillis() >= 100 && sweepInterval.toMinutes() <= 10,
        "seckill.stock-change.sweep-interval must be 100ms..10m but is " + sweepInterval);
  }
}
