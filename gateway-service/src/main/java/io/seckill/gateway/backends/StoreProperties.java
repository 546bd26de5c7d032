package io.seckill.gateway.backends;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Bounds of blocking calls.
 *
 * @param redisThreads shoppers' calls to Redis at once, 1..64
 * @param redisTimeout longest wait of a caller, 50 ms..10 s
 * @param mysqlThreads shoppers' lists read in MySQL at once, 1..64; the connection pool needs ten
 *     more
 * @param mysqlTimeout longest wait of a caller, 50 ms..30 s
 * @param waiting calls that may wait for a thread, in all, 1..10,000, for each store
 */
@ConfigurationProperties("seckill.stores")
record StoreProperties(
    @DefaultValue("4") int redisThreads,
    @DefaultValue("1s") Duration redisTimeout,
    @DefaultValue("6") int mysqlThreads,
    @DefaultValue("3s") Duration mysqlTimeout,
    @DefaultValue("256") int waiting) {

  StoreProperties {
    check(redisThreads >= 1 && redisThreads <= 64, "seckill.stores.redis-threads must be 1..64");
    check(mysqlThreads >= 1 && mysqlThreads <= 64, "seckill.stores.mysql-threads must be 1..64");
    check(waiting >= 1 && waiting <= 10_000, "seckill.stores.waiting must be 1..10000");
    check(
        redisTimeout.toMillis() >= 50 && redisTimeout.toSeconds() <= 10,
        "seckill.stores.redis-timeout must be 50ms..10s");
    check(
        mysqlTimeout.toMillis() >= 50 && mysqlTimeout.toSeconds() <= 30,
        "seckill.stores.mysql-timeout must be 50ms..30s");
  }
}
