package io.seckill.gateway.ops;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.URI;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Links on the operations page.
 *
 * @param brokerUiUrl where operators find the RabbitMQ management UI; empty for no link
 * @param grafanaUrl where operators find Grafana; empty for no link
 */
@ConfigurationProperties("seckill.ops")
record OpsProperties(@DefaultValue("") String brokerUiUrl, @DefaultValue("") String grafanaUrl) {

  OpsProperties {
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
