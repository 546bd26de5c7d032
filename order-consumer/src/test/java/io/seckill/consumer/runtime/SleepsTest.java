package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SleepsTest {

  @ParameterizedTest
  @CsvSource({"0, 10", "3, 80", "6, 500", "40, 500"})
  void doublesAPauseUpToTheLongestAndMakesHalfOfItRandom(int doublings, long fullMs) {
    for (int i = 0; i < 100; i++) {
      assertThat(Sleeps.jitteredMs(10, 500, doublings)).isBetween(fullMs / 2, fullMs);
    }
  }
}
