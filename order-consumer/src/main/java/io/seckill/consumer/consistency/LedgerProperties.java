package io.seckill.consumer.consistency;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param refreshInterval pause between two readings of the SKUs on sale, 500 ms..1 min
 * @param maxSkus most SKUs on sale that are read periodically and have metrics, 1..500; the latest
 *     sales come first
 */
@ConfigurationProperties("seckill.ledger")
record LedgerProperties(
    @DefaultValue("5s") Duration refreshInterval, @DefaultValue("50") int maxSkus) {

  LedgerProperties {
    check(
        refreshInterval.toMillis() >= 500 && refreshInterval.toMillis() <= 60_000,
        "seckill.ledger.refresh-interval must be 500ms..1m but is " + refreshInterval);
    check(
        maxSkus >= 1 && maxSkus <= 500, "seckill.ledger.max-skus must be 1..500 but is " + maxSkus);
  }
}
