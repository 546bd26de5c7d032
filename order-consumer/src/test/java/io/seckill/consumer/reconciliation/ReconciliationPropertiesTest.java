package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReconciliationPropertiesTest {

  @ParameterizedTest
  @CsvSource({"PT1S, PT1S", "PT1H, PT10M"})
  void takesTheBounds(Duration interval, Duration barrierTimeout) {
    assertThat(new ReconciliationProperties(interval, barrierTimeout, false).interval())
        .isEqualTo(interval);
  }

  @ParameterizedTest
  @CsvSource({
    "PT0.999S, PT45S, interval must be 1s..1h",
    "PT1H0.001S, PT45S, interval must be 1s..1h",
    "PT30S, PT0.999S, barrier-timeout must be 1s..10m",
    "PT30S, PT10M0.001S, barrier-timeout must be 1s..10m"
  })
  void refusesOthers(Duration interval, Duration barrierTimeout, String refusal) {
    assertThatThrownBy(() -> new ReconciliationProperties(interval, barrierTimeout, false))
        .hasMessage("seckill.reconciliation." + refusal);
  }
}
