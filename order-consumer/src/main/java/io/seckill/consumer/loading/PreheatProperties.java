package io.seckill.consumer.loading;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.common.redis.AllowUnsafeRedis;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of a preheat besides the rules of the product. The first two are stored with the
 * product, so that a rebuild loads the same values.
 *
 * @param maxPerOrder maximum units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d; for that long,
 *     retries with the same key get the first answer
 * @param allowUnsafeRedis whether sales are preheated and opened although a Redis server may lose
 *     orders: it evicts keys when it is full, keeps no append-only file, or replies before the file
 *     is synced to disk
 */
@ConfigurationProperties("seckill.preheat")
record PreheatProperties(
    @DefaultValue("100") int maxPerOrder,
    @DefaultValue("48h") Duration retention,
    @DefaultValue("false") AllowUnsafeRedis allowUnsafeRedis) {

  PreheatProperties {
    check(
        maxPerOrder >= 1 && maxPerOrder <= 10_000,
        "seckill.preheat.max-per-order must be 1..10000");
    check(
        retention.toHours() >= 2 && retention.compareTo(Duration.ofDays(30)) <= 0,
        "seckill.preheat.retention must be 2h..30d");
  }
}
