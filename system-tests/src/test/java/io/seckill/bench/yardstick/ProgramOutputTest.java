package io.seckill.bench.yardstick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ProgramOutputTest {

  @Test
  void takesTheLastRateOfRedisBenchmark() {
    String said =
        "EVALSHA 1 2: rps=12000.0 (overall: 11000.0) avg_msec=1.0\r"
            + "EVALSHA 1 2: 35123.45 requests per second, p50=1.2 msec\n";

    assertThat(RedisBenchmark.lastRate(said)).isEqualTo(35_123.45);
  }

  @Test
  void averagesWhatPerfTestConfirmedAfterItsFirstTwoSeconds() {
    String said =
        """
        id: test, time 1.000 s, sent: 90000 msg/s, confirmed: 1000 msg/s, nacked: 0 msg/s
        id: test, time 2.000 s, sent: 90000 msg/s, confirmed: 2000 msg/s, nacked: 0 msg/s
        id: test, time 3.000 s, sent: 90000 msg/s, confirmed: 40000 msg/s, nacked: 0 msg/s
        id: test, time 4.000 s, sent: 90000 msg/s, confirmed: 60000 msg/s, nacked: 0 msg/s
        """;

    assertThat(PerfTest.meanConfirmed(said)).isEqualTo(50_000);
  }

  @Test
  void refusesToGuessWhenAProgramSaysNothing() {
    assertThatThrownBy(() -> RedisBenchmark.lastRate("ERR")).isInstanceOf(RuntimeException.class);
    assertThatThrownBy(() -> PerfTest.meanConfirmed("ERR")).isInstanceOf(RuntimeException.class);
  }
}
