package io.seckill.system.observability;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.seckill.system.process.LocalHttp;
import io.seckill.testing.Eventually;
import io.seckill.testing.Ports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A Prometheus with the deployed alert rules that scrapes running processes once a second. */
public final class AlertWatch implements AutoCloseable {

  private static final Path DEPLOYED =
      Path.of(System.getProperty("seckill.root"), "deploy/observability");
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final int port;
  private final Process process;

  private AlertWatch(int port, Process process) {
    this.port = port;
    this.process = process;
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-prometheus"));
  }

  /**
   * Starts it; skips the test when Prometheus is not installed. How long an alert must hold ({@code
   * for}) is cut to two seconds, because alerts.test.yml proves the real times; expressions and
   * bounds are those deployed.
   *
   * @param ports of this machine, by job
   */
  public static AlertWatch start(Map<String, List<Integer>> ports) {
    return start(ports, rules -> rules.replaceAll("(?m)^( +for:) .*$", "$1 2s"));
  }

  /** The same with the real times, for a test that nothing fires. */
  public static AlertWatch startAsDeployed(Map<String, List<Integer>> ports) {
    return start(ports, UnaryOperator.identity());
  }

  private static AlertWatch start(Map<String, List<Integer>> ports, UnaryOperator<String> change) {
    assumeThat(isInstalled("prometheus")).as("prometheus, of Debian's package prometheus").isTrue();
    try {
      Path home = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "prometheus");
      String rules = Files.readString(DEPLOYED.resolve("alerts.yml"));
      Files.writeString(home.resolve("alerts.yml"), change.apply(rules));
      Files.writeString(home.resolve("prometheus.yml"), configuration(ports));
      int port = Ports.free();
      Process process =
          new ProcessBuilder(
                  "prometheus",
                  "--config.file=" + home.resolve("prometheus.yml"),
                  "--storage.tsdb.path=" + home.resolve("data"),
                  "--web.listen-address=127.0.0.1:" + port)
              .redirectErrorStream(true)
              .redirectOutput(home.resolve("log").toFile())
              .start();
      return new AlertWatch(port, process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether a program is on the PATH. */
  public static boolean isInstalled(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private static String configuration(Map<String, List<Integer>> ports) {
    StringBuilder text =
        new StringBuilder(
            """
            global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
            rule_files: [alerts.yml]
            scrape_configs:
            """);
    ports.forEach((job, each) -> text.append(job(job, each)));
    return text.toString();
  }

  private static String job(String job, List<Integer> ports) {
    String path =
        switch (job) {
          case "rabbitmq" -> "/metrics/detailed";
          case "node" -> "/metrics";
          default -> "/actuator/prometheus";
        };
    String families =
        job.equals("rabbitmq") ? "    params: {family: [ra_metrics, queue_coarse_metrics]}\n" : "";
    String targets =
        ports.stream()
            .map(port -> "'127.0.0.1:" + port + "'")
            .collect(Collectors.joining(", ", "[", "]"));
    return "  - job_name: %s\n    metrics_path: %s\n%s    static_configs: [{targets: %s}]\n"
        .formatted(job, path, families, targets);
  }

  /** Waits until all these alerts fire at the same time. */
  public void awaitFiring(String... alerts) {
    eventually("to fire: " + List.of(alerts))
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(this::firing, now -> now.containsAll(List.of(alerts)));
  }

  /** Waits until none of these alerts fires. */
  public void awaitSilent(String... alerts) {
    eventually("to be silent: " + List.of(alerts))
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(this::firing, now -> List.of(alerts).stream().noneMatch(now::contains));
  }

  /** Names of the alerts that fire now. */
  public Set<String> firing() {
    return StreamSupport.stream(query("/api/v1/alerts").at("/data/alerts").spliterator(), false)
        .filter(alert -> alert.path("state").asString().equals("firing"))
        .map(alert -> alert.at("/labels/alertname").asString())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Number of targets that Prometheus has reached at the last scrape. */
  public long targetsUp() {
    return StreamSupport.stream(
            query("/api/v1/targets").at("/data/activeTargets").spliterator(), false)
        .filter(target -> target.path("health").asString().equals("up"))
        .count();
  }

  private JsonNode query(String path) {
    return JsonMapper.shared().readTree(LocalHttp.get(port, path, Eventually.SOON).body());
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
