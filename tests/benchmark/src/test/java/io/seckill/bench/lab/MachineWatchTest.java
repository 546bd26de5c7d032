package io.seckill.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.seckill.bench.lab.MachineWatch.Sample;
import io.seckill.bench.lab.MachineWatch.Use;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineWatchTest {

  /** 10 % of the first 100 ms, 50 % of the second. */
  private static final List<Sample> SAMPLES =
      List.of(sample(0, 0), sample(100_000, 10), sample(200_000, 60));

  @ParameterizedTest
  @CsvSource({
    "0, 200000, 0.3",
    "0, 100000, 0.1",
    "20000, 40000, 0.1",
    "110000, 110001, 0.5",
    "50000, 150000, 0.3",
    "150000, 900000, 0.5",
    "300000, 400000, 0"
  })
  void weighsThePartsOfAPeriod(long from, long to, double share) {
    assertThat(MachineWatch.share(SAMPLES, Use.JIT, from, to)).isCloseTo(share, within(1e-9));
  }

  private static Sample sample(long micros, long ms) {
    return new Sample(micros, Map.of(Use.JIT, ms * 1_000_000));
  }
}
