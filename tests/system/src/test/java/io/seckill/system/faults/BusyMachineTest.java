package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BusyMachineTest {

  @ParameterizedTest
  @CsvSource({
    "100, 99, true",
    "90, 99, true",
    "89.9, 99, false",
    "50, 99, false",
    "0, 99, false",
    "90, 100, true",
    "89.9, 100, false",
    "80, 98, true",
    "79.9, 98, false",
    "NaN, 99, false",
  })
  void aShareIsMissedByTenTimesWhatThePromiseAllows(
      double percent, double promised, boolean isAllowed) {
    assertThat(BusyMachine.allows(percent, promised)).isEqualTo(isAllowed);
  }

  @ParameterizedTest
  @CsvSource({"0, true", "2000, true", "10000, true", "10001, false"})
  void aTimeIsMissedByFiveTimesThePromise(long tookMs, boolean isAllowed) {
    assertThat(BusyMachine.allows(Duration.ofMillis(tookMs), Duration.ofSeconds(2)))
        .isEqualTo(isAllowed);
  }
}
