package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsumerPropertiesTest {

  private static final URI ADDRESS = URI.create("http://127.0.0.1:8083");
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  @ParameterizedTest
  @ValueSource(strings = {"http://lb", "http://lb:8083/", "https://[::1]:8083"})
  void takesAnAddress(URI url) {
    assertThat(new ConsumerProperties(url, TIMEOUT).url()).isEqualTo(url);
  }

  /** Calls would go to other paths than it says. */
  @ParameterizedTest
  @ValueSource(strings = {"http://lb/consumer", "http://lb//", "http://lb/?a=b", "http://lb#a"})
  void refusesAPath(URI url) {
    assertThatThrownBy(() -> new ConsumerProperties(url, TIMEOUT))
        .hasMessage("seckill.consumer.url must have no path");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://lb:0", "http://lb:65536"})
  void refusesAPortThatDoesNotExist(URI url) {
    assertThatThrownBy(() -> new ConsumerProperties(url, TIMEOUT))
        .hasMessage("seckill.consumer.url must have a port 1..65535");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.5S", "PT60S"})
  void takesTheBoundsOfTheTimeOut(Duration timeout) {
    assertThat(new ConsumerProperties(ADDRESS, timeout).timeout()).isEqualTo(timeout);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.499S", "PT60.001S"})
  void refusesATimeOutOutOfBounds(Duration timeout) {
    assertThatThrownBy(() -> new ConsumerProperties(ADDRESS, timeout))
        .hasMessage("seckill.consumer.timeout must be 500ms..60s");
  }
}
