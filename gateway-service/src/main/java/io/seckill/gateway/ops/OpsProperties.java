package io.seckill.gateway.ops;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isHttpUrl;

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
    check(
        brokerUiUrl.isEmpty() || isHttpUrl(brokerUiUrl),
        "seckill.ops.broker-ui-url must be an http(s) URL");
    check(
        grafanaUrl.isEmpty() || isHttpUrl(grafanaUrl),
        "seckill.ops.grafana-url must be an http(s) URL");
  }
}
