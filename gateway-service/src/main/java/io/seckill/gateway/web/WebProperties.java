package io.seckill.gateway.web;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The gateway's own HTTP limits.
 *
 * @param maxBodyBytes largest request body accepted, 256..1,048,576
 * @param idleTimeout longest time without traffic on a connection to the shoppers' port, 61 s..1 h:
 *     longer than an event stream goes without a heartbeat and than any response takes
 */
@ConfigurationProperties("seckill.web")
record WebProperties(
    @DefaultValue("16384") int maxBodyBytes, @DefaultValue("75s") Duration idleTimeout) {

  WebProperties {
    check(
        maxBodyBytes >= 256 && maxBodyBytes <= 1_048_576,
        "seckill.web.max-body-bytes must be 256..1048576");
    check(isWithin(idleTimeout, 61_000, 3_600_000), "seckill.web.idle-timeout must be 61s..1h");
  }

  private static boolean isWithin(Duration value, long minMs, long maxMs) {
    return value.toMillis() >= minMs && value.toMillis() <= maxMs;
  }
}
