package io.seckill.gateway.warmup;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WarmUpPropertiesTest {

  @ParameterizedTest
  @CsvSource({"0, PT1S", "1000000, PT10M"})
  void takesItsBounds(int requests, Duration atMost) {
    var unused = new WarmUpProperties(requests, atMost);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1_000_001})
  void refusesRequestsOutOfBounds(int requests) {
    assertThatThrownBy(() -> new WarmUpProperties(requests, Duration.ofSeconds(20)))
        .hasMessage("seckill.warm-up.requests must be 0..1000000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "PT0S", "PT0.999S", "PT10M0.001S"})
  void refusesATimeOutOfBounds(Duration atMost) {
    assertThatThrownBy(() -> new WarmUpProperties(100, atMost))
        .hasMessage("seckill.warm-up.at-most must be 1s..10m");
  }
}
