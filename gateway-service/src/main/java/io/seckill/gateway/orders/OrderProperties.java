package io.seckill.gateway.orders;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How orders are looked up and watched.
 *
 * @param threads batches of status reads at once, 1..16
 * @param queueCapacity status reads that may wait per partition, 1..100,000, further ones go to
 *     MySQL; and lists that may wait, further ones get 503
 * @param answerWithin longest wait for Redis, 50 ms..5 s; after it a single order is read from
 *     MySQL, and a list gets 503
 * @param staleAfter a QUEUED order of this age is looked up in MySQL, 500 ms..1 min
 * @param rateMaxAge maximum age of a settlement rate from which the wait is estimated, 1 s..5 min
 * @param maxStreams event streams at once, 0..100,000
 * @param maxStreamsPerUser event streams of one user at once, 1..100
 * @param eventPeriod how often watched orders are read, 50 ms..10 s
 * @param heartbeat interval of heartbeat comments on an event stream, 1 s..1 min
 */
@ConfigurationProperties("seckill.orders")
record OrderProperties(
    @DefaultValue("2") int threads,
    @DefaultValue("4096") int queueCapacity,
    @DefaultValue("300ms") Duration answerWithin,
    @DefaultValue("2s") Duration staleAfter,
    @DefaultValue("15s") Duration rateMaxAge,
    @DefaultValue("5000") int maxStreams,
    @DefaultValue("5") int maxStreamsPerUser,
    @DefaultValue("250ms") Duration eventPeriod,
    @DefaultValue("15s") Duration heartbeat) {

  OrderProperties {
    check(threads >= 1 && threads <= 16, "seckill.orders.threads must be 1..16");
    check(
        queueCapacity >= 1 && queueCapacity <= 100_000,
        "seckill.orders.queue-capacity must be 1..100000");
    check(isWithin(answerWithin, 50, 5_000), "seckill.orders.answer-within must be 50ms..5s");
    check(isWithin(staleAfter, 500, 60_000), "seckill.orders.stale-after must be 500ms..1m");
    check(isWithin(rateMaxAge, 1_000, 300_000), "seckill.orders.rate-max-age must be 1s..5m");
    check(maxStreams >= 0 && maxStreams <= 100_000, "seckill.orders.max-streams must be 0..100000");
    check(
        maxStreamsPerUser >= 1 && maxStreamsPerUser <= 100,
        "seckill.orders.max-streams-per-user must be 1..100");
    check(isWithin(eventPeriod, 50, 10_000), "seckill.orders.event-period must be 50ms..10s");
    check(isWithin(heartbeat, 1_000, 60_000), "seckill.orders.heartbeat must be 1s..1m");
  }

  private static boolean isWithin(Duration value, long minMs, long maxMs) {
    return value.toMillis() >= minMs && value.toMillis() <= maxMs;
  }
}
