package io.seckill.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** The report for a browser: one file without external resources; charts are inline SVG. */
public final class HtmlReport {

  private static final String HEAD =
      """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>seckill benchmark</title>
      <style>
      body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
      table{border-collapse:collapse;width:100%}td,th{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #ddd}
      td:first-child,th:first-child{text-align:left}tr.against td{color:#666}tr.against td:first-child{padding-left:2rem}
      svg{width:100%;height:auto}text{font:12px system-ui,sans-serif;fill:#222}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
      dt{color:#666}dd{margin:0}
      </style></head><body><h1>Benchmark of the seckill order pipeline</h1>
      """;

  private HtmlReport() {}

  /**
   * @param machine names and values that describe the machine
   */
  public static String of(List<Row> rows, Figures figures, Map<String, String> machine) {
    StringBuilder html = new StringBuilder(HEAD);
    appendMachine(html, machine);
    appendTable(html, rows, figures);
    html.append("<h2>Compared with the ceilings and baselines of the same run</h2>\n");
    for (Row row : rows) {
      if (!row.against().isEmpty() && figures.of(row.key()).isPresent()) {
        html.append(BarChart.of(row, figures));
      }
    }
    return html.append("</body></html>\n").toString();
  }

  static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static void appendMachine(StringBuilder html, Map<String, String> machine) {
    html.append("<dl>\n");
    machine.forEach(
        (name, value) ->
            html.append("<dt>%s</dt><dd>%s</dd>%n".formatted(escape(name), escape(value))));
    html.append("</dl>\n");
  }

  private static void appendTable(StringBuilder html, List<Row> rows, Figures figures) {
    html.append("<table><tr><th></th><th>median</th><th>min</th><th>max</th><th>ratio</th></tr>\n");
    for (Row row : rows) {
      if (figures.of(row.key()).isPresent()) {
        html.append(line("", row.title(), row.key(), figures, ""));
        html.append(cpu(row.key(), figures));
        row.against().forEach(against -> appendAgainst(html, row, against, figures));
      }
    }
    html.append("</table>\n");
  }

  private static void appendAgainst(
      StringBuilder html, Row row, Row.Against against, Figures figures) {
    OptionalDouble ratio = figures.ratio(row.key(), against.key());
    if (ratio.isPresent()) {
      String text = "&times; " + Numbers.plain(ratio.getAsDouble());
      html.append(line(" class=\"against\"", against.title(), against.key(), figures, text));
      html.append(cpu(against.key(), figures));
    }
  }

  private static String cpu(String rateKey, Figures figures) {
    String line = CpuCost.line(rateKey, figures);
    return line.isEmpty()
        ? ""
        : "<tr class=\"against\"><td colspan=\"5\">%s</td></tr>%n".formatted(escape(line));
  }

  private static String line(
      String attributes, String title, String key, Figures figures, String ratio) {
    Samples samples = figures.of(key).orElseThrow();
    return "<tr%s><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>%n"
        .formatted(
            attributes,
            escape(title),
            Numbers.withUnit(key, samples.median()),
            Numbers.plain(samples.min()),
            Numbers.plain(samples.max()),
            ratio);
  }

  /** One figure and its comparisons as horizontal bars with a whisker from minimum to maximum. */
  private static final class BarChart {

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
}
