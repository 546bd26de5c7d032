package io.seckill.consumer.fallback;

import static io.seckill.consumer.testing.RequestBodies.refused;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackSettingsTest {

  @ParameterizedTest
  @CsvSource({
    "0, 4, 0, failurePercent",
    "101, 4, 0, failurePercent",
    "60, 0, 0, failuresPerSecond",
    "60, 100001, 0, failuresPerSecond",
    "60, 4, -1, reservePercent",
    "60, 4, 101, reservePercent",
    "60, 4, null, reservePercent"
  })
  void haveBounds(String percent, String failures, String reserve, String field) {
    String json =
        "{'failurePercent':%s,'failuresPerSecond':%s,'reservePercent':%s}"
            .formatted(percent, failures, reserve);

    assertThat(refused(json, FallbackController.Settings.class)).isEqualTo(field);
  }
}
