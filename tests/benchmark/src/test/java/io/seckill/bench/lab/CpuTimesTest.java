package io.seckill.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.management.OperatingSystemMXBean;
import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import io.seckill.testing.Bounded;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CpuTimesTest {

  private static final String BUSY = "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done";

  /** Rounding error of several readings in ticks of 10 ms, in µs. */
  private static final long ROUNDING = 40_000;

  @BeforeEach
  void needsProc() {
    assumeThat(Path.of("/proc/self/stat")).exists();
  }

  @Test
  void addsUserAndSystemTimeAndThatOfDeadChildrenWhateverTheName() {
    String stat = "77 (a) name (b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 15 31 418";

    assertThat(CpuTimes.micros(stat)).isEqualTo(127 * 10_000);
  }

  @Test
  void countsAChildThatHasEnded() throws Exception {
    long allBefore = CpuTimes.now().micros(CpuCost.LOAD_GENERATOR);
    long ownBefore = ownMicros();
    Process child =
        new ProcessBuilder("sh", "-c", BUSY + "; read -r stat < /proc/$$/stat; echo \"$stat\"")
            .start();
    String stat = new String(child.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    Bounded.waitFor(child);
    long own = ownMicros() - ownBefore;
    long all = CpuTimes.now().micros(CpuCost.LOAD_GENERATOR) - allBefore;

    assertThat(CpuTimes.micros(stat)).isGreaterThan(5 * ROUNDING);
    assertThat(all - own).isGreaterThan(CpuTimes.micros(stat) - ROUNDING);
  }

  @Test
  void knowsAServerByItsCommandLineAndAddsItsChildren() throws Exception {
    // The shell has that name and is idle; its child, which works, has another name.
    Process server =
        new ProcessBuilder(
                "sh", "-c", "sh -c '" + BUSY + "; echo; exec sleep 60' & wait", "redis-server")
            .start();
    try {
      long before = CpuTimes.now().micros(CpuCost.REDIS);
      server.getInputStream().read();

      assertThat(CpuTimes.now().micros(CpuCost.REDIS)).isGreaterThan(before);
    } finally {
      server.descendants().forEach(ProcessHandle::destroyForcibly);
      server.destroyForcibly();
    }
  }

  @Test
  void sharesTheTimeAmongTheOrdersAndLeavesTheLoadGeneratorOutOfTheSum() throws Exception {
    Figures figures = new Figures();
    CpuTimes before = CpuTimes.now();
    Bounded.waitFor(new ProcessBuilder("sh", "-c", BUSY).start());

    before.addSince(figures, "e2e.sustained_per_s", 10);

    double others =
        Arrays.stream(CpuCost.values())
            .filter(cost -> cost != CpuCost.LOAD_GENERATOR)
            .mapToDouble(cost -> figures.median(cost.key("e2e.sustained_per_s")).orElseThrow())
            .sum();
    assertThat(figures.median("e2e.sustained_cpu_us").orElseThrow())
        .isEqualTo(others, within(1e-6));
    assertThat(figures.median("e2e.sustained_cpu_us.load_generator").orElseThrow()).isPositive();
  }

  private static long ownMicros() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime() / 1_000;
  }
}
