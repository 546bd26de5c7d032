package io.seckill.system.process;

import static org.awaitility.Awaitility.await;

import io.seckill.testing.Bounded;
import io.seckill.testing.CleanEnvironment;
import io.seckill.testing.Eventually;
import io.seckill.testing.ProcessState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One service as a child process with its own log file, see {@link #log(Service, String)}. It is
 * killed when the test JVM ends; {@link #close()} kills it earlier.
 */
public final class ServiceProcess implements AutoCloseable {

  /** Limit for a start while other rows use all processors. */
  public static final Duration START_LIMIT = Duration.ofMinutes(4);

  private static final Duration STOP_LIMIT = Eventually.SOON;

  /** System property with the flags of the services' JVMs, separated by blanks. */
  private static final String JVM_FLAGS = "seckill.service.flags";

  /** As in pom.xml. */
  private static final String DEFAULT_JVM_FLAGS =
      "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
          + " -XX:+IgnoreUnrecognizedVMOptions -XX:+UseTransparentHugePages";

  /** Exit codes of a JVM that ended with SIGABRT, SIGBUS, or SIGSEGV, or lacked memory. */
  private static final Set<Integer> CRASHED = Set.of(134, 135, 139, 3);

  private static final int LOG_TAIL_LINES = 30;
  private static final Duration READINESS_LIMIT = Duration.ofSeconds(5);

  private final Service service;
  private final String name;
  private final Map<String, String> environment;
  private final int healthPort;
  private final List<String> jvmFlags;
  private final List<String> runs;
  private Process process;

  private ServiceProcess(
      Service service,
      List<String> runs,
      String name,
      int healthPort,
      Map<String, String> environment,
      List<String> jvmFlags) {
    this.service = service;
    this.runs = runs;
    this.name = name;
    this.healthPort = healthPort;
    this.environment = environment;
    this.jvmFlags = jvmFlags;
    this.process = launch(Map.of());
    Runtime.getRuntime().addShutdownHook(new Thread(this::kill, "kill-" + name));
  }

  /**
   * Starts a service; returns at once, see {@link #awaitReady()}.
   *
   * @param name unique within the test JVM; names the log file
   * @param healthPort port that serves its readiness
   */
  public static ServiceProcess start(
      Service service, String name, int healthPort, Map<String, String> environment) {
    return start(service, service.asShipped(), name, healthPort, environment, List.of());
  }

  /**
   * As {@link #start(Service, String, int, Map)}.
   *
   * @param runs arguments of java that name the program
   * @param jvmFlags flags for this process, in addition to those of all
   */
  public static ServiceProcess start(
      Service service,
      List<String> runs,
      String name,
      int healthPort,
      Map<String, String> environment,
      List<String> jvmFlags) {
    return new ServiceProcess(service, runs, name, healthPort, environment, jvmFlags);
  }

  /**
   * Waits until readiness answers 200, at most 4 minutes; fails early when the process has died.
   */
  public ServiceProcess awaitReady() {
    await(name + " to become ready")
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .failFast(name + " died", this::checkAlive)
        .until(this::isReady);
    return this;
  }

  /** Waits until it answers, even if it is not ready; fails early when the process has died. */
  public void awaitAnswers() {
    await(name + " to answer")
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(100))
        .failFast(name + " died", this::checkAlive)
        .until(this::answers);
  }

  /** Whether readiness answers 200 now. */
  public boolean isReady() {
    return readiness().filter(status -> status == 200).isPresent();
  }

  /** Whether it answers at all, even if it is not ready. */
  public boolean answers() {
    return readiness().isPresent();
  }

  private Optional<Integer> readiness() {
    try {
      return Optional.of(
          LocalHttp.get(healthPort, "/actuator/health/readiness", READINESS_LIMIT).statusCode());
    } catch (UncheckedIOException e) {
      return Optional.empty();
    }
  }

  /** SIGKILL: no shutdown hook, no flush. */
  public void kill() {
    process.destroyForcibly();
    awaitExit(Eventually.SOON);
  }

  /** Sends SIGTERM and waits for the process to shut down; fails when it takes longer than 30 s. */
  public void stop() {
    if (!terminate()) {
      throw new IllegalStateException(name + " did not stop within " + STOP_LIMIT);
    }
  }

  /**
   * Sends SIGTERM, and SIGKILL 30 s later, as a supervisor does. A service that is starting ends
   * only after it has started, which takes longer than 30 s when all processors are busy.
   *
   * @return whether it ended before SIGKILL was sent
   */
  public boolean terminate() {
    process.destroy();
    boolean orderly = awaitExit(STOP_LIMIT);
    if (!orderly) {
      kill();
    }
    return orderly;
  }

  /**
   * Starts it again on the same ports after {@link #kill()} or {@link #stop()}, or when it has
   * ended by itself.
   *
   * @throws IllegalStateException when its JVM has crashed: no row injects that
   */
  public ServiceProcess restart() {
    return restart(Map.of());
  }

  /**
   * As {@link #restart()}.
   *
   * @param settings added to its environment, for this start only
   */
  public ServiceProcess restart(Map<String, String> settings) {
    if (process.isAlive()) {
      throw new IllegalStateException(name + " is still running");
    }
    if (CRASHED.contains(exitCode())) {
      throw new IllegalStateException(name + " has crashed; the end of its log:\n" + logTail());
    }
    process = launch(settings);
    return this;
  }

  /**
   * Sends SIGSTOP and waits until the process has stopped. Its connections stay open. No effect on
   * a dead process.
   */
  public void freeze() {
    signal("STOP");
    ProcessState.awaitStopped(process.toHandle());
  }

  /** Sends SIGCONT after {@link #freeze()}. */
  public void thaw() {
    signal("CONT");
  }

  /** Whether the process is stopped by {@link #freeze}. */
  public boolean isFrozen() {
    return process.isAlive() && ProcessState.isStopped(process.pid());
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Exit code of the process.
   *
   * @throws IllegalThreadStateException while it runs
   */
  public int exitCode() {
    return process.exitValue();
  }

  /** The process id, to inspect its threads and files. */
  public long pid() {
    return process.pid();
  }

  /** Waits until the process has died, by itself or because of a fault. */
  public void awaitDeath(Duration limit) {
    if (!awaitExit(limit)) {
      throw new IllegalStateException(name + " still runs after " + limit);
    }
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  private void checkAlive() {
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " exited; the end of its log:\n" + logTail());
    }
  }

  private Process launch(Map<String, String> settings) {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(List.of(System.getProperty(JVM_FLAGS, DEFAULT_JVM_FLAGS).split(" ")));
    command.addAll(jvmFlags);
    command.addAll(runs);
    ProcessBuilder builder = new ProcessBuilder(command);
    CleanEnvironment.give(builder, environment);
    builder.environment().putAll(settings);
    builder.redirectErrorStream(true);
    Path log = log(service, name);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    try {
      Files.createDirectories(log.getParent());
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The log of a service of this name, for all its starts, in {@code target/fork-N/logs}. */
  public static Path log(Service service, String name) {
    return ForkFolder.path().resolve("logs").resolve(name + "-" + service.module() + ".log");
  }

  /** Number of lines of its log that contain a text, including those of earlier starts. */
  public long logged(String text) {
    try (Stream<String> lines = Files.lines(log(service, name))) {
      return lines.filter(line -> line.contains(text)).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String logTail() {
    try {
      List<String> lines = Files.readAllLines(log(service, name));
      return String.join(
          "\n", lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size()));
    } catch (IOException e) {
      return "no log at " + log(service, name);
    }
  }

  private boolean awaitExit(Duration limit) {
    try {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** None to one that has ended: its number may be another's. */
  private void signal(String signal) {
    if (!process.isAlive()) {
      return;
    }
    try {
      int exit =
          Bounded.waitFor(new ProcessBuilder("kill", "-" + signal, "" + process.pid()).start());
      if (exit != 0 && process.isAlive()) {
        throw new IllegalStateException("kill -" + signal + " " + name + " exited with " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
