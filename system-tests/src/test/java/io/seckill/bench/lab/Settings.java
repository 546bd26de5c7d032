package io.seckill.bench.lab;

import java.time.Duration;
import java.util.Set;

/**
 * How much is measured.
 *
 * @param quick one repeat of each figure, short runs: under 4 minutes in all
 * @param only names of the stages to run; empty for all
 */
public record Settings(boolean quick, Set<String> only) {

  private static final int FULL_REPEATS = 3;

  public int repeats() {
    return quick ? 1 : FULL_REPEATS;
  }

  public int choose(int full, int whenQuick) {
    return quick ? whenQuick : full;
  }

  public Duration seconds(int full, int whenQuick) {
    return Duration.ofSeconds(choose(full, whenQuick));
  }

  public boolean wants(String stage) {
    return only.isEmpty() || only.contains(stage);
  }
}
