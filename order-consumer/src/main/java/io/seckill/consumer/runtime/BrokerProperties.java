package io.seckill.consumer.runtime;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.common.broker.BrokerAddresses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param urls {@code amqp[s]://user:password@host:port/vhost}, one for each address
 * @param heartbeat interval, 1..60 s; a dead connection is detected after two intervals
 * @param caFile PEM file of the CAs; one must have issued the broker's certificate; empty for the
 *     CAs that the Java platform trusts
 */
@ConfigurationProperties("seckill.broker")
public record BrokerProperties(
    List<String> urls, @DefaultValue("5s") Duration heartbeat, @Nullable Path caFile) {

  public BrokerProperties {
    urls = BrokerAddresses.checked(urls, caFile);
    check(
        heartbeat.toSeconds() >= 1 && heartbeat.toSeconds() <= 60,
        "seckill.broker.heartbeat must be 1s..60s");
  }

  /** Without the passwords. */
  @Override
  public String toString() {
    return "BrokerProperties" + urls.toString().replaceAll("//[^@/]*@", "//***@");
  }
}
