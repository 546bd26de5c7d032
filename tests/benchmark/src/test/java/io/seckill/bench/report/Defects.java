package io.seckill.bench.report;

import java.util.List;
import java.util.Set;

/**
 * Defects found during a measurement. Figures whose keys end in one of these words count them:
 * orders without a row or with two, units sold twice, wrong answers that were not repeated, and
 * violated guarantees.
 */
public final class Defects {

  private static final Set<String> WORDS =
      Set.of("lost", "doubled", "oversold", "wrong_answers", "broken_guarantees");

  private Defects() {}

  /** Returns one line for each such figure that was not 0 in every repeat. */
  public static List<String> of(Figures figures) {
    return figures.all().entrySet().stream()
        .filter(figure -> isDefect(figure.getKey()))
        .filter(figure -> figure.getValue().min() != 0 || figure.getValue().max() != 0)
        .map(figure -> figure.getKey() + ": " + range(figure.getValue()))
        .toList();
  }

  private static String range(Samples counted) {
    return Numbers.plain(counted.min()) + " to " + Numbers.plain(counted.max());
  }

  private static boolean isDefect(String key) {
    return WORDS.contains(key.substring(key.lastIndexOf('.') + 1));
  }
}
