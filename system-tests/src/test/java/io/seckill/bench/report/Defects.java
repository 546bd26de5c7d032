package io.seckill.bench.report;

import java.util.List;
import java.util.Set;

/**
 * What must not happen while figures are taken. A figure whose key ends in one of these words
 * counts it: orders without a row, units sold twice, answers that were neither right nor repeated,
 * and guarantees that did not hold.
 */
public final class Defects {

  private static final Set<String> WORDS =
      Set.of("lost", "oversold", "wrong_answers", "broken_guarantees");

  private Defects() {}

  /** One text for each such figure that was not 0 in every repeat. */
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
