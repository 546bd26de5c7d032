package io.seckill.bench;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Progress;
import io.seckill.bench.lab.Settings;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.HtmlReport;
import io.seckill.bench.report.JsonReport;
import io.seckill.bench.report.Machine;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.TextTable;
import io.seckill.bench.stage.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What {@code scripts/bench} runs: the stages that were asked for, one after the other, and a
 * report into the current directory. A stage that fails does not keep the others from being
 * measured.
 */
public final class Bench {

  private final Lab lab;
  private final Progress progress;
  private final Figures figures = new Figures();
  private boolean failed;

  private Bench(Lab lab, Progress progress) {
    this.lab = lab;
    this.progress = progress;
  }

  /** Arguments as scripts/bench takes them: {@code [--quick] [--only stage,…]}. */
  public static void main(String[] args) throws IOException {
    Settings settings = settings(args);
    List<Stage> stages = Stage.asMeasured().stream().filter(s -> settings.wants(s.name())).toList();
    Progress progress = new Progress(System.out, Boolean.getBoolean("seckill.bench.terminal"));
    Map<String, String> machine = Machine.describe();
    boolean failed;
    try (Lab lab = Lab.open(settings, progress)) {
      Bench bench = new Bench(lab, progress);
      stages.forEach(bench::measure);
      machine.put("load average at the end", Machine.load());
      bench.report(machine);
      failed = bench.failed;
    }
    System.exit(failed ? 1 : 0);
  }

  static Settings settings(String[] args) {
    List<String> words = Arrays.asList(args);
    int only = words.indexOf("--only");
    return new Settings(
        words.contains("--quick"), only < 0 ? Set.of() : Set.of(words.get(only + 1).split(",")));
  }

  private void measure(Stage stage) {
    try {
      stage.measure(lab, figures);
    } catch (Exception e) {
      failed = true;
      progress.note("stage " + stage.name() + " failed: " + e);
      e.printStackTrace();
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
  }
}
