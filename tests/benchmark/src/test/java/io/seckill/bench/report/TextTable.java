package io.seckill.bench.report;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The report for the terminal: each figure, with the figures it is compared with indented below.
 */
public final class TextTable {

  private static final String LINE = "%-66s %14s %27s %7s%n";

  private TextTable() {}

  /** Omits rows of figures that were not measured. */
  public static String of(List<Row> rows, Figures figures) {
    StringBuilder table = new StringBuilder();
    table.append(LINE.formatted("", "median", "min .. max", "ratio"));
    for (Row row : rows) {
      if (figures.of(row.key()).isPresent()) {
        append(table, row, figures);
      }
    }
    return table.toString();
  }

  private static void append(StringBuilder table, Row row, Figures figures) {
    table.append(line(row.title(), row.key(), figures, ""));
    table.append(cpu("    ", row.key(), figures));
    for (Row.Against against : row.against()) {
      OptionalDouble ratio = figures.ratio(row.key(), against.key());
      if (ratio.isPresent()) {
        String text = "x " + Numbers.plain(ratio.getAsDouble());
        table.append(line("    " + against.title(), against.key(), figures, text));
        table.append(cpu("        ", against.key(), figures));
      }
    }
  }

  private static String cpu(String indent, String rateKey, Figures figures) {
    String line = CpuCost.line(rateKey, figures);
    return line.isEmpty() ? "" : indent + line + System.lineSeparator();
  }

  private static String line(String title, String key, Figures figures, String ratio) {
    Samples samples = figures.of(key).orElseThrow();
    String range =
        samples.count() == 1
            ? ""
            : Numbers.plain(samples.min()) + " .. " + Numbers.plain(samples.max());
    return LINE.formatted(title, Numbers.withUnit(key, samples.median()), range, ratio);
  }
}
