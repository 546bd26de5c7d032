package io.seckill.bench.baseline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
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
  void readsWhatPerfTestConfirmsEachSecondUntilItIsEnough() throws IOException {
    BufferedReader said =
        said(
            """
            id: test, starting producer #0
            id: test, time 1.000 s, sent: 90000 msg/s, confirmed: 40000 msg/s, nacked: 0 msg/s
            id: test, time 2.000 s, sent: 90000 msg/s, confirmed: 60.5k msg/s, nacked: 0 msg/s
            id: test, time 3.000 s, sent: 90000 msg/s, confirmed: 50000 msg/s, nacked: 0 msg/s
            """);
    List<Double> confirmed = new ArrayList<>();

    PerfTest.readUntil(said, 100_000, confirmed);
    assertThat(confirmed).containsExactly(40_000.0, 60_500.0);

    PerfTest.readUntil(said, 100_501, confirmed);
    assertThat(confirmed).containsExactly(40_000.0, 60_500.0, 50_000.0);
  }

  @Test
  void refusesToGuessWhenAProgramSaysNothing() {
    assertThatThrownBy(() -> RedisBenchmark.lastRate("ERR")).isInstanceOf(RuntimeException.class);
    assertThatThrownBy(() -> PerfTest.readUntil(said("ERR"), 1, new ArrayList<>()))
        .isInstanceOf(RuntimeException.class);
  }

  private static BufferedReader said(String text) {
    return new BufferedReader(new StringReader(text));
  }
}
