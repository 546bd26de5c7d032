package io.seckill.relay.publish;

import static io.seckill.common.settings.SettingChecks.check;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the relay reaches RabbitMQ.
 *
 * @param url {@code amqp[s]://user:password@host:port/vhost}; amqps checks certificate and host
 *     name. Required
 * @param heartbeat 1 s..60 s; a silent link is closed after two to three of them
 * @param caFile PEM file of the authorities that the broker's certificate must come from; empty for
 *     those of the Java platform
 */
@ConfigurationProperties("seckill.broker")
public record BrokerSettings(
    String url, @DefaultValue("5s") Duration heartbeat, @Nullable Path caFile) {

  /**
   * @throws IllegalArgumentException naming the property that is missing or out of bounds
   */
  @SuppressWarnings("ConstantValue") // Spring's binder passes null for absent values
  public BrokerSettings {
    check(url != null && url.matches("amqps?://.+"), "seckill.broker.url must be amqp[s]://...");
    check(
        heartbeat.toSeconds() >= 1 && heartbeat.toSeconds() <= 60,
        "seckill.broker.heartbeat must be 1s..60s");
    check(
        caFile == null || url.startsWith("amqps:"),
        "seckill.broker.ca-file is of no use without amqps://");
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "BrokerSettings[" + url.replaceAll("//[^@/]*@", "//***@") + "]";
  }
}
