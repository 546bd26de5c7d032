package io.seckill.relay;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import io.seckill.common.broker.ProcessName;
import io.seckill.relay.lane.LaneSettings;
import io.seckill.relay.publish.LinkSettings;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param name shown in keys, logs and lists of connections, 1..64 of {@code [A-Za-z0-9_.-]}; empty
 *     for the host's name. Need not be unique
 * @param lanesPerPartition 1..8; a relay runs 16 times as many lanes, each one thread, one
 *     connection to Redis and one to the broker
 * @param maxUnconfirmed orders of one lane in its private queue and in flight, 1..4096; bounds
 *     memory and what a crash sends twice
 * @param confirmTimeout longest time without an answer of the broker while confirms are pending, 1
 *     s..5 min; then the lane opens a new channel and publishes again. Time blocked by an alarm
 *     does not count. A stop waits for confirms twice as long
 */
@ConfigurationProperties("seckill.relay")
record RelaySettings(
    @DefaultValue("") String name,
    @DefaultValue("1") int lanesPerPartition,
    @DefaultValue("512") int maxUnconfirmed,
    @DefaultValue("10s") Duration confirmTimeout) {

  private static final int MAX_NAME = 64;

  /** Throws IllegalArgumentException naming the property that is out of bounds. */
  public RelaySettings {
    name = name.isEmpty() ? ofHost(ProcessName.host()) : name;
    check(
        name.matches("[A-Za-z0-9_.-]{1," + MAX_NAME + "}"),
        "seckill.relay.name must be 1..64 of [A-Za-z0-9_.-]: " + name);
    check(
        lanesPerPartition >= 1 && lanesPerPartition <= 8,
        "seckill.relay.lanes-per-partition must be 1..8");
    check(
        maxUnconfirmed >= 1 && maxUnconfirmed <= 4096,
        "seckill.relay.max-unconfirmed must be 1..4096");
    check(
        isWithin(confirmTimeout, Duration.ofSeconds(1), Duration.ofMinutes(5)),
        "seckill.relay.confirm-timeout must be 1s..5m");
  }

  /** The beginning of a host's name, which may have other characters. */
  static String ofHost(String host) {
    String name = host.replaceAll("[^A-Za-z0-9_.-]", "-");
    return name.substring(0, Math.min(name.length(), MAX_NAME));
  }

  LinkSettings links() {
    return new LinkSettings("relay-service", true, maxUnconfirmed, confirmTimeout);
  }

  LaneSettings lanes() {
    return new LaneSettings(
        name, lanesPerPartition, maxUnconfirmed, confirmTimeout.multipliedBy(2));
  }
}
