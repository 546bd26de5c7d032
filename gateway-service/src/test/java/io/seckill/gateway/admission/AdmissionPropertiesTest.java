package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionPropertiesTest {

  @ParameterizedTest
  @CsvSource({
    "REDIS, -1, replicas must be 0..16",
    "REDIS, 1, durable-in=replicas",
    "REPLICAS, 0, replicas must be 1..16"
  })
  void refusesASettingThatCannotBeRight(Durability.Store durableIn, int replicas, String message) {
    Duration ample = Duration.ofSeconds(1);

    assertThatThrownBy(
            () -> new AdmissionProperties(3, 64, 4_096, ample, durableIn, replicas, ample))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
