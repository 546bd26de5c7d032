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
 * @param connectTimeout longest wait for a TCP connection
 * @param handshakeTimeout longest wait for login and tuning
 * @param rpcTimeout longest wait for one answer on a channel; the client's own default is 10 min
 * @param heartbeat 1 s..60 s; a silent link is closed after two to three of them
 * @param caFile PEM file of the authorities that the broker's certificate must come from; empty for
 *     those of the Java platform
 */
@ConfigurationProperties("seckill.broker")
public record BrokerSettings(
    String url,
    @DefaultValue("2s") Duration connectTimeout,
    @DefaultValue("5s") Duration handshakeTimeout,
    @DefaultValue("5s") Duration rpcTimeout,
    @DefaultValue("5s") Duration heartbeat,
    @Nullable Path caFile) {

  /**
   * @throws IllegalArgumentException naming the property that is missing or out of bounds
   */
  @SuppressWarnings("ConstantValue") // Spring's binder passes null for absent values
  public BrokerSettings {
    check(url != null && url.matches("amqps?://.+"), "seckill.broker.url must be amqp[s]://...");
    checkPositive(connectTimeout, "connect-timeout");
    checkPositive(handshakeTimeout, "handshake-timeout");
    checkPositive(rpcTimeout, "rpc-timeout");
    check(
        heartbeat.toSeconds() >= 1 && heartbeat.toSeconds() <= 60,
        "seckill.broker.heartbeat must be 1s..60s");
    check(
        caFile == null || url.startsWith("amqps:"),
        "seckill.broker.ca-file is of no use without amqps://");
  }

  private static void checkPositive(Duration value, String property) {
    check(
        !value.isNegative() && !value.isZero(), "seckill.broker." + property + " must be positive");
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "BrokerSettings[" + url.replaceAll("//[^@/]*@", "//***@") + "]";
  }
}
