package io.seckill.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One figure and its comparisons as horizontal bars with a whisker from minimum to maximum. */
final class BarChart {

  private static final int WIDTH = 900;
  private static final int LABELS = 400;
  private static final int NUMBERS = 110;
  private static final int BAR = 18;
  private static final int STEP = 26;
  private static final int TOP = 8;
  private static final String MEASURED = "#1f6feb";
  private static final String AGAINST = "#b6bdc7";

  private record Bar(String title, String key, Samples samples, String colour) {}

  private BarChart() {}

  static String of(Row row, Figures figures) {
    List<Bar> bars = bars(row, figures);
    double most = bars.stream().mapToDouble(bar -> bar.samples().max()).max().orElse(1);
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n"
            .formatted(WIDTH, 2 * TOP + STEP * bars.size(), HtmlReport.escape(row.title())));
    for (int i = 0; i < bars.size(); i++) {
      append(svg, bars.get(i), TOP + i * STEP, (WIDTH - LABELS - NUMBERS) / Math.max(most, 1e-9));
    }
    return svg.append("</svg>\n").toString();
  }

  private static List<Bar> bars(Row row, Figures figures) {
    List<Bar> bars = new ArrayList<>();
    figures.of(row.key()).ifPresent(s -> bars.add(new Bar(row.title(), row.key(), s, MEASURED)));
    for (Row.Against against : row.against()) {
      figures
          .of(against.key())
          .ifPresent(s -> bars.add(new Bar(against.title(), against.key(), s, AGAINST)));
    }
    return bars;
  }

  private static void append(StringBuilder svg, Bar bar, int y, double scale) {
    Samples samples = bar.samples();
    int text = y + BAR - 4;
    svg.append(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
            .formatted(LABELS - 8, text, HtmlReport.escape(bar.title())));
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
            LABELS,
            y,
            samples.median() * scale,
            BAR,
            bar.colour()));
    svg.append(
        String.format(
            Locale.ROOT,
            "<path d=\"M%.1f %d H%.1f\" stroke=\"#222\" stroke-width=\"1.5\"/>",
            LABELS + samples.min() * scale,
            y + BAR / 2,
            LABELS + samples.max() * scale));
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%d\">%s</text>%n",
            LABELS + samples.max() * scale + 6,
            text,
            Numbers.withUnit(bar.key(), samples.median())));
  }
}
