package io.seckill.consumer.runtime;

import java.util.List;

/** Writes the column {@code detail} of a check: its lines for operators, as far as they fit. */
public final class DetailColumn {

  private static final int MAX_CHARS = 2_000;

  /** For the last line. */
  private static final int MORE_CHARS = 50;

  private DetailColumn() {}

  /** Whole lines only: the beginning of a number would name another order or user. */
  public static String text(List<String> lines) {
    String all = String.join("\n", lines);
    if (all.length() <= MAX_CHARS) {
      return all;
    }
    String first = all.substring(0, all.lastIndexOf('\n', MAX_CHARS - MORE_CHARS) + 1);
    return "%sand %d more, in order-consumer's log"
        .formatted(first, lines.size() - first.lines().count());
  }
}
