package io.seckill.consumer.fallback;

import static io.seckill.consumer.testing.RequestBodies.refused;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackSettingsTest {

  @ParameterizedTest
  @CsvSource({
    "0, 4, failurePercent",
    "101, 4, failurePercent",
    "60, 0, failuresPerSecond",
    "60, 100001, failuresPerSecond",
    "60, null, failuresPerSecond"
  })
  void haveBounds(String percent, String failures, String field) {
    String json = "{'failurePercent':%s,'failuresPerSecond':%s}".formatted(percent, failures);

    assertThat(refused(json, FallbackController.Settings.class)).isEqualTo(field);
  }
}
