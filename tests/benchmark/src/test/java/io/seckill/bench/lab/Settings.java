package io.seckill.bench.lab;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * What is measured, and how often.
 *
 * @param quick one repeat of each figure, short runs: about 12 minutes in all
 * @param tenfold {@code large} writes ten times as many orders
 * @param only names of the stages to run; empty for all
 */
public record Settings(boolean quick, boolean tenfold, Set<String> only) {

  private static final int FULL_REPEATS = 3;

  public int repeats() {
    return quick ? 1 : FULL_REPEATS;
  }

  public int choose(int full, int whenQuick) {
    return quick ? whenQuick : full;
  }

  /** As {@link #choose}, for how much is written; ten times as much when tenfold. */
  public int amount(int full, int whenQuick) {
    return choose(full, whenQuick) * (tenfold ? 10 : 1);
  }

  public Duration seconds(int full, int whenQuick) {
    return Duration.ofSeconds(choose(full, whenQuick));
  }

  /**
   * Returns how long each program, ours and those compared with it, runs the measured load as
   * warm-up.
   */
  public Duration warmUp() {
    return seconds(20, 5);
  }

  /** Runs all of these once per repeat, alternately forwards and backwards. */
  public void repeatInTurns(List<Work> measures) throws Exception {
    List<Work> order = new ArrayList<>(measures);
    for (int repeat = 0; repeat < repeats(); repeat++) {
      for (Work measure : order) {
        measure.run();
      }
      Collections.reverse(order);
    }
  }

  public boolean wants(String stage) {
    return only.isEmpty() || only.contains(stage);
  }
}
