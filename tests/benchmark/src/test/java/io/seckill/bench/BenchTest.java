package io.seckill.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.bench.lab.Progress;
import io.seckill.bench.stage.Stage;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class BenchTest {

  private static final List<Stage> TWO = Stage.all().subList(0, 2);

  @Test
  void exitsWithZeroWhenEveryStageCameToItsEnd() {
    assertThat(exitCode((stage, figures) -> figures.count("burst.lost", 0))).isZero();
  }

  @Test
  void exitsWithOneWhenAnOrderWasLost() {
    assertThat(exitCode((stage, figures) -> figures.count("burst.lost", 1))).isOne();
  }

  @Test
  void measuresTheOtherStagesAndExitsWithOneWhenAStageFails() {
    int[] measured = new int[1];

    int exitCode =
        exitCode(
            (stage, figures) -> {
              if (++measured[0] == 1) {
                throw new IllegalStateException("no server");
              }
            });

    assertThat(measured[0]).isEqualTo(TWO.size());
    assertThat(exitCode).isOne();
  }

  private static int exitCode(Bench.Measurement measurement) {
    PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
    return new Bench(measurement, new Progress(nowhere, false)).measure(TWO);
  }
}
