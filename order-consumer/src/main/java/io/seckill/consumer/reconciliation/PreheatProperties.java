package io.seckill.consumer.reconciliation;

import io.seckill.common.sale.LoadSettings;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What a rebuild writes beside MySQL's rules; keep it the same as the gateway's.
 *
 * @param maxPerOrder most units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d
 */
@ConfigurationProperties("seckill.preheat")
record PreheatProperties(
    @DefaultValue("100") int maxPerOrder, @DefaultValue("48h") Duration retention) {

  PreheatProperties {
    LoadSettings.check(maxPerOrder, retention);
  }

  LoadSettings loading() {
    return new LoadSettings(maxPerOrder, retention);
  }
}
