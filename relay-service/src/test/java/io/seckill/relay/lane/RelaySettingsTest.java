package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.BrokerSettings;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class RelaySettingsTest {

  @Test
  void hasDefaultsForAll() {
    RelaySettings relay = bind("seckill.relay", RelaySettings.class, Map.of());
    assertThat(relay.maxUnconfirmed()).isEqualTo(512);
    assertThat(relay.lanesPerPartition()).isEqualTo(1);
    LeaseSettings lease = LeaseSettings.DEFAULT;
    assertThat(lease.duration().plus(lease.renewInterval()).plus(RelayLane.POLL_INTERVAL))
        .as("longest time until a dead relay's orders are adopted")
        .hasSeconds(8);
    assertThat(lease.duration())
        .isBetween(lease.renewInterval().multipliedBy(3), RedisKeys.LONGEST_LANE_LEASE);
  }

  @ParameterizedTest
  @CsvSource({
    "name, a b",
    "lanes-per-partition, 0",
    "lanes-per-partition, 9",
    "max-unconfirmed, 0",
    "max-unconfirmed, 4097",
    "confirm-timeout, 0s",
    "drain-timeout, 1s",
    "stuck-after, 0s"
  })
  void refusesAnOutOfBoundsSetting(String property, String value) {
    assertThatThrownBy(() -> bind("seckill.relay", RelaySettings.class, Map.of(property, value)))
        .isInstanceOf(BindException.class)
        .hasRootCauseInstanceOf(IllegalArgumentException.class)
        .rootCause()
        .hasMessageContaining("seckill.relay." + property);
  }

  /** A claim that is given up may still arrive in a dead queue, which must be registered then. */
  @Test
  void refusesASocketTimeoutWithWhichAClaimMayOutlastTheQuietPeriod() {
    assertThatThrownBy(() -> lanes(Duration.ofSeconds(59)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.redis.socket-timeout");
    assertThat(lanes(Duration.ofMillis(58_999)).statuses()).hasSize(16);
  }

  /** Polls for one second. */
  private static RelayLanes lanes(Duration socketTimeout) {
    RelayMeters meters = new RelayMeters(new SimpleMeterRegistry());
    return new RelayLanes(
        bind("seckill.relay", RelaySettings.class, Map.of()),
        LeaseSettings.DEFAULT,
        bind(
            "seckill.redis",
            RedisSettings.class,
            Map.of("url", "redis://127.0.0.1:1", "socket-timeout", socketTimeout.toString())),
        TestRelay.connector(TestRelay.broker("amqp://127.0.0.1:1", null), Tuning.DEFAULT, meters),
        meters);
  }

  @Test
  void refusesToStartWithoutABrokerAndHidesItsPassword() {
    assertThatThrownBy(() -> bind("seckill.broker", BrokerSettings.class, Map.of()))
        .rootCause()
        .hasMessageContaining("seckill.broker.url");
    String url = "amqp://relay:secret@host/seckill";
    assertThat(bind("seckill.broker", BrokerSettings.class, Map.of("url", url)).toString())
        .doesNotContain("secret");
  }

  private static <T> T bind(String prefix, Class<T> type, Map<String, String> properties) {
    Map<String, String> prefixed = new HashMap<>();
    properties.forEach((name, value) -> prefixed.put(prefix + "." + name, value));
    return new Binder(new MapConfigurationPropertySource(prefixed)).bindOrCreate(prefix, type);
  }
}
