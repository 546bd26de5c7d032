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
 * @param connectTimeout for the TCP connection and for the handshake, 100 ms to 30 s
 * @param rpcTimeout longest wait for the answer to one call on a channel, 100 ms to 60 s
 * @param confirmTimeout longest wait for a publisher confirm, 100 ms to 60 s
 * @param caFile PEM file of the CAs, one of which must have issued the broker's certificate; empty
 *     for the CAs that the Java platform trusts
 */
@ConfigurationProperties("seckill.broker")
public record BrokerProperties(
    String url,
    @DefaultValue("5s") Duration heartbeat,
    @DefaultValue("2s") Duration connectTimeout,
    @DefaultValue("5s") Duration rpcTimeout,
    @DefaultValue("5s") Duration confirmTimeout,
    @Nullable Path caFile) {

  public BrokerProperties {
    check(url != null && url.matches("amqps?://.*"), "seckill.broker.url must be amqp[s]://...");
    check(within(heartbeat, 1_000, 60_000), "seckill.broker.heartbeat must be 1s..60s");
    check(within(connectTimeout, 100, 30_000), "seckill.broker.connect-timeout must be 100ms..30s");
    check(within(rpcTimeout, 100, 60_000), "seckill.broker.rpc-timeout must be 100ms..60s");
    check(within(confirmTimeout, 100, 60_000), "seckill.broker.confirm-timeout must be 100ms..60s");
    check(
        caFile == null || url.startsWith("amqps:"),
        "seckill.broker.ca-file is of no use without amqps://");
  }

  private static boolean within(Duration value, long minMs, long maxMs) {
    return value.toMillis() >= minMs && value.toMillis() <= maxMs;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "BrokerProperties[" + url.replaceAll("//[^@/]*@", "//***@") + "]";
  }
}
