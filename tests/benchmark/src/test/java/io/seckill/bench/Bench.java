package io.seckill.bench;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Progress;
import io.seckill.bench.lab.Settings;
import io.seckill.bench.report.Defects;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.HostInfo;
import io.seckill.bench.report.HtmlReport;
import io.seckill.bench.report.JsonReport;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.TextTable;
import io.seckill.bench.stage.Stage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The program of {@code scripts/bench}: runs the requested stages one after the other and writes
 * the reports to the current directory. After a failed stage the others are still measured.
 */
public final class Bench {

  private final Measurement measurement;
  private final Progress progress;
  private final Figures figures = new Figures();
  private final List<String> failures = new ArrayList<>();

  Bench(Measurement measurement, Progress progress) {
    this.measurement = measurement;
    this.progress = progress;
  }

  /** How a stage is measured. */
  @FunctionalInterface
  interface Measurement {
    void of(Stage stage, Figures figures) throws Exception;
  }

  /**
   * Takes the arguments of scripts/bench: {@code [--quick] [--tenfold] [--only stage,…]}. Exits
   * with 1 when a stage failed, or when an order was lost, stock was oversold or a guarantee was
   * violated.
   */
  public static void main(String[] args) throws IOException {
    Settings settings = settings(args);
    List<Stage> stages =
        Stage.asMeasured().stream().filter(stage -> isWanted(stage, settings)).toList();
    Progress progress = new Progress(System.out, Boolean.getBoolean("seckill.bench.terminal"));
    Map<String, String> machine = HostInfo.describe();
    int exitCode;
    try (Lab lab = Lab.open(settings, progress)) {
      Bench bench = new Bench((stage, figures) -> stage.measure(lab, figures), progress);
      exitCode = bench.measure(stages);
      machine.put("load average at the end", HostInfo.load());
      bench.report(machine);
    }
    System.exit(exitCode);
  }

  private static boolean isWanted(Stage stage, Settings settings) {
    return stage.isOnRequest()
        ? settings.only().contains(stage.name())
        : settings.wants(stage.name());
  }

  static Settings settings(String[] args) {
    List<String> words = Arrays.asList(args);
    int only = words.indexOf("--only");
    return new Settings(
        words.contains("--quick"),
        words.contains("--tenfold"),
        only < 0 ? Set.of() : Set.of(words.get(only + 1).split(",")));
  }

  /**
   * @return the program's exit code: 0 when every stage completed without a defect
   */
  int measure(List<Stage> stages) {
    stages.forEach(this::measure);
    failures.addAll(Defects.of(figures));
    return failures.isEmpty() ? 0 : 1;
  }

  private void measure(Stage stage) {
    try {
      measurement.of(stage, figures);
    } catch (Exception e) {
      failures.add("stage " + stage.name() + ": " + e);
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      progress.note(trace.toString());
    }
  }

  private void report(Map<String, String> machine) throws IOException {
    progress.done();
    List<Row> rows = Stage.all().stream().flatMap(stage -> stage.rows().stream()).toList();
    Files.writeString(Path.of("report.json"), JsonReport.flat(figures));
    Files.writeString(Path.of("details.json"), JsonReport.detailed(figures, machine));
    Files.writeString(Path.of("report.html"), HtmlReport.of(rows, figures, machine));
    System.out.println();
    System.out.println(
        machine.entrySet().stream()
            .map(fact -> fact.getKey() + ": " + fact.getValue())
            .collect(Collectors.joining("\n")));
    System.out.println();
    System.out.print(TextTable.of(rows, figures));
    failures.forEach(failure -> System.out.println("FAILED  " + failure));
  }
}
