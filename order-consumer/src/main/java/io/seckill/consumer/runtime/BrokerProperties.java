package io.seckill.consumer.runtime;

import static io.seckill.common.settings.SettingChecks.check;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param url {@code amqp[s]://user:password@host:port/vhost}
 * @param heartbeat interval, 1..60 s; a dead connection is detected after two intervals
 * @param caFile PEM file of the CAs, one of which must have issued the broker's certificate; empty
 *     for the CAs that the Java platform trusts
 */
@ConfigurationProperties("seckill.broker")
public record BrokerProperties(
    String url, @DefaultValue("5s") Duration heartbeat, @Nullable Path caFile) {

  public BrokerProperties {
    check(url != null && url.matches("amqps?://.*"), "seckill.broker.url must be amqp[s]://...");
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
    return "BrokerProperties[" + url.replaceAll("//[^@/]*@", "//***@") + "]";
  }
}
