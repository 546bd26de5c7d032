package io.seckill.relay.lane;

import io.seckill.testing.Bounded;
import io.seckill.testing.ProcessState;
import io.seckill.testing.UnpackedService;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A relay in a process of its own, so that it can be killed and frozen. */
public final class RelayProcess implements AutoCloseable {

  private final Process process;

  private RelayProcess(Process process) {
    this.process = process;
  }

  /** Only lanes, no Spring: starts within a second. */
  static RelayProcess lanes(String redisUrl, String brokerUrl) throws IOException {
    return start(RelayMain.class, redisUrl, brokerUrl);
  }

  /** A gateway's lanes, which admit without end; no Spring. */
  static RelayProcess directLanes(String redisUrl, String brokerUrl) throws IOException {
    return start(DirectMain.class, redisUrl, brokerUrl);
  }

  private static RelayProcess start(Class<?> main, String redisUrl, String brokerUrl)
      throws IOException {
    return start(
        List.of("-cp", System.getProperty("java.class.path"), main.getName(), redisUrl, brokerUrl),
        Map.of());
  }

  /** The jar as it is shipped, with a free port. */
  public static RelayProcess jar(Map<String, String> environment) throws IOException {
    Path jar =
        Path.of(System.getProperty("seckill.root"), "relay-service/target/relay-service.jar");
    List<String> arguments = new ArrayList<>(List.of("-Xmx256m"));
    arguments.addAll(UnpackedService.arguments(jar));
    return start(arguments, environment);
  }

  private static RelayProcess start(List<String> arguments, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(new File("target/relay-process.log")));
    builder.environment().putAll(environment);
    return new RelayProcess(builder.start());
  }

  /** Sends kill -9; returns when the process has ended. */
  public void kill() throws InterruptedException {
    Bounded.waitFor(process.destroyForcibly());
  }

  void freeze() throws IOException, InterruptedException {
    signal("-STOP");
    ProcessState.awaitStopped(process.toHandle());
  }

  void thaw() throws IOException, InterruptedException {
    signal("-CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    Bounded.waitFor(
        new ProcessBuilder("kill", name, Long.toString(process.pid())).inheritIO().start());
  }

  boolean isFrozen() {
    return ProcessState.isStopped(process.pid());
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
