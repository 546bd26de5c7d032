package io.seckill.support.broker;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.BrokerAddresses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How a service reaches RabbitMQ.
 *
 * @param urls {@code amqp[s]://user:password@host:port/vhost}, one for each address; amqps checks
 *     certificate and host name. Required
 * @param heartbeat 1 s..60 s; a silent link is closed after two to three of them
 * @param caFile PEM file of the authorities that the broker's certificate must come from; empty for
 *     those of the Java platform
 */
@ConfigurationProperties("seckill.broker")
public record BrokerSettings(
    List<String> urls, @DefaultValue("5s") Duration heartbeat, @Nullable Path caFile) {

  /** Throws IllegalArgumentException naming the property that is missing or out of bounds. */
  public BrokerSettings {
    urls = BrokerAddresses.checked(urls, caFile);
    check(
        isWithin(heartbeat, Duration.ofSeconds(1), Duration.ofSeconds(60)),
        "seckill.broker.heartbeat must be 1s..60s");
  }

  /** For connections to any of the addresses, without automatic recovery. */
  public ConnectionFactory factory() {
    ConnectionFactory factory = new BrokerAddresses(urls, caFile);
    factory.setRequestedHeartbeat((int) heartbeat.toSeconds());
    return factory;
  }

  /** Without the passwords. */
  @Override
  public String toString() {
    return "BrokerSettings" + urls.toString().replaceAll("//[^@/]*@", "//***@");
  }
}
