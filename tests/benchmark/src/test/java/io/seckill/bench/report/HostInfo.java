package io.seckill.bench.report;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Hardware and software versions of this machine, as far as they can be read. */
public final class HostInfo {

  private static final Path LOAD = Path.of("/proc/loadavg");

  private HostInfo() {}

  /** Runs the programs on the PATH to get their versions; takes about a second. */
  public static Map<String, String> describe() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    facts.put(
        "processor",
        Runtime.getRuntime().availableProcessors()
            + " x "
            + field(Path.of("/proc/cpuinfo"), "model name"));
    facts.put("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
    facts.put("kernel", System.getProperty("os.version"));
    facts.put("load average", load());
    facts.put("Java", System.getProperty("java.vm.name") + " " + Runtime.version());
    if ("containers".equals(System.getProperty("seckill.test.servers"))) {
      facts.put("Redis", image("redis:8"));
      facts.put("RabbitMQ", image("rabbitmq:4-management"));
      facts.put("database", image("mysql:9"));
    } else {
      facts.put("Redis", answer("redis-server", "--version"));
      facts.put("RabbitMQ", answer("dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"));
      facts.put("database", answer("mariadbd", "--version"));
    }
    facts.put("wrk", answer("wrk", "--version"));
    facts.put("commit", answer("git", "describe", "--always", "--dirty"));
    return facts;
  }

  /** The image and its variables, which name the version. */
  private static String image(String name) {
    return name + " " + answer("docker", "image", "inspect", "-f", "{{.Config.Env}}", name);
  }

  /** Load averages of 1, 5 and 15 minutes; above a few tenths, other programs are running too. */
  public static String load() {
    try {
      return Files.readString(LOAD).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static String field(Path file, String name) {
    try {
      List<String> lines = Files.readAllLines(file);
      return lines.stream()
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  /**
   * Returns the first line that a program prints, with any exit code; "unknown" when it cannot run.
   */
  private static String answer(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(Path.of(System.getProperty("seckill.root", ".")).toFile())
              .redirectErrorStream(true)
              .start();
      try (BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        String line = output.readLine();
        return line == null ? "unknown" : line.strip();
      }
    } catch (UncheckedIOException | IOException e) {
      return "unknown";
    }
  }
}
