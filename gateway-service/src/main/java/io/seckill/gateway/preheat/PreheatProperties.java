package io.seckill.gateway.preheat;

import io.seckill.common.sale.LoadSettings;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What a preheat writes beside MySQL's rules.
 *
 * @param maxPerOrder most units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d; retries with the
 *     same key get their first answer that long
 * @param allowUnsafeRedis preheats and opens sales although Redis may forget orders: it evicts keys
 *     when it is full, keeps no append-only file, or answers before the file is on disk
 */
@ConfigurationProperties("seckill.preheat")
record PreheatProperties(
    @DefaultValue("100") int maxPerOrder,
    @DefaultValue("48h") Duration retention,
    @DefaultValue("false") boolean allowUnsafeRedis) {

  PreheatProperties {
    LoadSettings.check(maxPerOrder, retention);
  }

  LoadSettings loading() {
    return new LoadSettings(maxPerOrder, retention);
  }
}
