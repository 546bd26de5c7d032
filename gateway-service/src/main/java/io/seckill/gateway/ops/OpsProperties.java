package io.seckill.gateway.ops;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the operations page.
 *
 * @param period between two snapshots while there is a viewer, 1 s..1 min
 * @param maxViewers streams at once, 1..1000; more are refused with BUSY
 * @param brokerUiUrl where operators find the RabbitMQ management UI; empty for no link
 * @param grafanaUrl where operators find Grafana; empty for no link
 */
@ConfigurationProperties("seckill.ops")
record OpsProperties(
    @DefaultValue("2s") Duration period,
    @DefaultValue("50") int maxViewers,
    @DefaultValue("") String brokerUiUrl,
    @DefaultValue("") String grafanaUrl) {

  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  OpsProperties {
    check(
        period.compareTo(SHORTEST) >= 0 && period.compareTo(LONGEST) <= 0,
        "seckill.ops.period must be 1s..1m");
    check(maxViewers >= 1 && maxViewers <= 1000, "seckill.ops.max-viewers must be 1..1000");
    check(isLink(brokerUiUrl), "seckill.ops.broker-ui-url must be an http(s) URL");
    check(isLink(grafanaUrl), "seckill.ops.grafana-url must be an http(s) URL");
  }

  private static boolean isLink(String text) {
    if (text.isEmpty()) {
      return true;
    }
    try {
      URI uri = URI.create(text);
      return uri.getHost() != null
          && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
