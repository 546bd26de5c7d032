package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.ops.HealthReport.Component;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthControllerTest {

  @ParameterizedTest
  @CsvSource({
    "0, false, UP,",
    "2, false, DEGRADED, 'Redis takes no writes for partitions [0, 1].'",
    "2, true, DEGRADED, 'Redis takes no writes for partitions [0, 1].'",
    "16, false, DOWN, Redis takes no writes.",
    "16, true, DEGRADED, Redis takes no writes; MySQL decides its sales.",
  })
  void aRedisThatAnswersIsNotUpWhileItRefusesWrites(
      int refusing, boolean inFallback, String status, String reason) {
    List<Integer> partitions = IntStream.range(0, refusing).boxed().toList();

    Component redis = HealthController.redis(Component.UP, partitions, inFallback);

    assertThat(redis.status()).hasToString(status);
    assertThat(redis.reason()).isEqualTo(reason);
  }
}
