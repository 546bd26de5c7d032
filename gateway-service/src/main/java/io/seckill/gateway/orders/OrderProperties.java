package io.seckill.gateway.orders;

import static io.seckill.common.settings.SettingChecks.check;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How orders are looked up and watched.
 *
 * @param queueCapacity status reads that may wait per partition, 1..100,000, further ones go to
 *     MySQL; and lists that may wait, further ones get 503
 * @param maxStreams event streams at once, 0..100,000
 */
@ConfigurationProperties("seckill.orders")
record OrderProperties(
    @DefaultValue("4096") int queueCapacity, @DefaultValue("5000") int maxStreams) {

  OrderProperties {
    check(
        queueCapacity >= 1 && queueCapacity <= 100_000,
        "seckill.orders.queue-capacity must be 1..100000");
    check(maxStreams >= 0 && maxStreams <= 100_000, "seckill.orders.max-streams must be 0..100000");
  }
}
