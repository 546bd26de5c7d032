package io.seckill.gateway.admin;

import io.seckill.common.sale.LoadSettings;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of a preheat besides the rules from MySQL.
 *
 * @param maxPerOrder maximum units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d; for that long,
 *     retries with the same key get the first answer
 * @param allowUnsafeRedis allows preheating and opening of sales although Redis may lose orders: it
 *     evicts keys when it is full, keeps no append-only file, or replies before the file is synced
 *     to disk
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
