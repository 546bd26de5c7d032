package io.seckill.bench.report;

import java.util.List;

/**
 * One line of the report: a figure and the figures to compare it with.
 *
 * @param title what was measured
 * @param key its key in {@link Figures}
 * @param against ceilings and baselines of the same run; may be empty
 */
public record Row(String title, String key, List<Against> against) {

  /**
   * A figure to compare with.
   *
   * @param title what it is
   * @param key its key in {@link Figures}
   */
  public record Against(String title, String key) {}

  /** A figure without comparison. */
  public static Row of(String title, String key) {
    return new Row(title, key, List.of());
  }
}
