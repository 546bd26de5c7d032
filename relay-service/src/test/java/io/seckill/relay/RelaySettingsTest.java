package io.seckill.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.broker.ProcessName;
import io.seckill.relay.lane.LaneSettings;
import io.seckill.relay.publish.LinkSettings;
import io.seckill.support.broker.BrokerSettings;
import io.seckill.testing.SettingsContract;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class RelaySettingsTest {

  @Test
  void hasDefaultsForAll() {
    RelaySettings relay = bind("seckill.relay", RelaySettings.class, Map.of());
    assertThat(relay.name()).isEqualTo(RelaySettings.ofHost(ProcessName.host()));
    assertThat(relay.maxUnconfirmed()).isEqualTo(512);
    assertThat(relay.lanesPerPartition()).isEqualTo(1);
    assertThat(relay.links())
        .isEqualTo(new LinkSettings("relay-service", true, 512, Duration.ofSeconds(10)));
    assertThat(relay.lanes())
        .isEqualTo(new LaneSettings(relay.name(), 1, 512, Duration.ofSeconds(20)));
  }

  @ParameterizedTest
  @CsvSource({
    "relay-1.example.com, relay-1.example.com",
    "host:8082 (b), host-8082--b-",
    "relay-service-7d9c5b8f6d-x2x7k.of-the-longest-name.seckill.svc.cluster.local,"
        + " relay-service-7d9c5b8f6d-x2x7k.of-the-longest-name.seckill.svc.c"
  })
  void takesFromTheHostsNameAsMuchAsANameMayHave(String host, String name) {
    assertThat(RelaySettings.ofHost(host)).isEqualTo(name);
    assertThat(bind("seckill.relay", RelaySettings.class, Map.of("name", name)).name())
        .isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({
    "name, a b",
    "lanes-per-partition, 0",
    "lanes-per-partition, 9",
    "max-unconfirmed, 0",
    "max-unconfirmed, 4097",
    "confirm-timeout, 0s",
    "confirm-timeout, 301s"
  })
  void refusesAnOutOfBoundsSetting(String property, String value) {
    assertThatThrownBy(() -> bind("seckill.relay", RelaySettings.class, Map.of(property, value)))
        .isInstanceOf(BindException.class)
        .hasRootCauseInstanceOf(IllegalArgumentException.class)
        .rootCause()
        .hasMessageContaining("seckill.relay." + property);
  }

  @Test
  void refusesBadNumbersAndTimesByFullName() {
    SettingsContract.refusesBadValuesByFullName(
        "seckill.broker.heartbeat", "seckill.relay.confirm-timeout");
  }

  /** Linux and Kubernetes allow it, and it is the default. */
  @Test
  void takesTheLongestNameOfAHost() {
    String longest = "h".repeat(64);
    Map<String, String> ofHost = Map.of("name", longest);
    assertThat(bind("seckill.relay", RelaySettings.class, ofHost).name()).isEqualTo(longest);
    Map<String, String> tooLong = Map.of("name", longest + "h");
    assertThatThrownBy(() -> bind("seckill.relay", RelaySettings.class, tooLong))
        .rootCause()
        .hasMessageContaining("seckill.relay.name must be 1..64");
  }

  @Test
  void refusesToStartWithoutABrokerAndHidesItsPassword() {
    assertThatThrownBy(() -> bind("seckill.broker", BrokerSettings.class, Map.of()))
        .rootCause()
        .hasMessageContaining("seckill.broker.urls");
    String urls = "amqp://relay:secret@a/seckill,amqp://relay:secret@b/seckill";
    BrokerSettings settings = bind("seckill.broker", BrokerSettings.class, Map.of("urls", urls));
    assertThat(settings.urls()).hasSize(2);
    assertThat(settings.toString()).contains("@a", "@b").doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"999ms", "60001ms"})
  void refusesAHeartbeatOutOfBounds(String heartbeat) {
    Map<String, String> settings = Map.of("urls", "amqp://relay@a/seckill", "heartbeat", heartbeat);
    assertThatThrownBy(() -> bind("seckill.broker", BrokerSettings.class, settings))
        .rootCause()
        .hasMessage("seckill.broker.heartbeat must be 1s..60s");
  }

  @Test
  void namesTheNewPropertyToAnInstallationThatSetsTheOldOne() {
    Map<String, String> old = Map.of("url", "amqp://relay:secret@host/seckill");
    assertThatThrownBy(() -> bind("seckill.broker", BrokerSettings.class, old))
        .rootCause()
        .hasMessageContaining("seckill.broker.urls (formerly seckill.broker.url)");
  }

  private static <T> T bind(String prefix, Class<T> type, Map<String, String> properties) {
    Map<String, String> prefixed = new HashMap<>();
    properties.forEach((name, value) -> prefixed.put(prefix + "." + name, value));
    return new Binder(new MapConfigurationPropertySource(prefixed)).bindOrCreate(prefix, type);
  }
}
