package io.seckill.gateway.backends;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Address, time-outs and connection limits of order-consumer's internal port.
 *
 * @param url http(s) address without a path
 * @param connectTimeout 10 ms..30 s
 * @param timeout longest wait for a whole response, at least the connect time-out, up to 60 s;
 *     beyond it the outcome is unknown
 * @param longTimeout the same for a preheat or an edit, which write all of a sale's data to Redis,
 *     and for a reconciliation, which waits for orders in flight to settle, timeout..15 min
 * @param maxConnections 1..256
 * @param maxWaiting requests that may wait for a connection, 1..10,000; more are refused at once
 */
@ConfigurationProperties("seckill.consumer")
record ConsumerProperties(
    @DefaultValue("http://127.0.0.1:8083") URI url,
    @DefaultValue("500ms") Duration connectTimeout,
    @DefaultValue("5s") Duration timeout,
    @DefaultValue("5m") Duration longTimeout,
    @DefaultValue("32") int maxConnections,
    @DefaultValue("256") int maxWaiting) {

  ConsumerProperties {
    check(
        "http".equals(url.getScheme()) || "https".equals(url.getScheme()),
        "seckill.consumer.url must be http(s)");
    check(url.getHost() != null, "seckill.consumer.url must name a host");
    check(
        connectTimeout.toMillis() >= 10 && connectTimeout.toSeconds() <= 30,
        "seckill.consumer.connect-timeout must be 10ms..30s");
    check(
        timeout.compareTo(connectTimeout) >= 0,
        "seckill.consumer.timeout is shorter than connect-timeout");
    check(timeout.toSeconds() <= 60, "seckill.consumer.timeout must be at most 60s");
    check(
        longTimeout.compareTo(timeout) >= 0 && longTimeout.toMinutes() <= 15,
        "seckill.consumer.long-timeout must be timeout..15m");
    check(
        maxConnections >= 1 && maxConnections <= 256,
        "seckill.consumer.max-connections must be 1..256");
    check(maxWaiting >= 1 && maxWaiting <= 10_000, "seckill.consumer.max-waiting must be 1..10000");
  }
}
