package io.seckill.bench.report;

import java.util.List;
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
}
