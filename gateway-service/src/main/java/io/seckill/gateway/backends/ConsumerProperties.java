package io.seckill.gateway.backends;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.hasPossiblePort;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Address and time-out of order-consumer's internal port.
 *
 * @param url http(s) address without a path
 * @param timeout longest wait for a whole response, 500 ms..60 s; beyond it the outcome is unknown
 */
@ConfigurationProperties("seckill.consumer")
record ConsumerProperties(
    @DefaultValue("http://127.0.0.1:8083") URI url, @DefaultValue("5s") Duration timeout) {

  ConsumerProperties {
    check(
        "http".equals(url.getScheme()) || "https".equals(url.getScheme()),
        "seckill.consumer.url must be http(s)");
    check(url.getHost() != null, "seckill.consumer.url must name a host");
    check(hasPossiblePort(url), "seckill.consumer.url must have a port 1..65535");
    check(
        url.getRawPath().matches("/?") && url.getRawQuery() == null && url.getRawFragment() == null,
        "seckill.consumer.url must have no path");
    check(
        isWithin(timeout, Duration.ofMillis(500), Duration.ofSeconds(60)),
        "seckill.consumer.timeout must be 500ms..60s");
  }
}
