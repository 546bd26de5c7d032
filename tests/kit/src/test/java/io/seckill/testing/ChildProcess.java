package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server process that leads its own process group. The guard of {@link RunDirectory} has it from
 * its start.
 */
final class ChildProcess {

  /** Writes the pid file before the server runs. The pid stays the same: every step is an exec. */
  private static final String LEAD_A_GROUP = "echo $$ > \"$0\" && exec setsid \"$@\"";

  private static final long STOP_SECONDS = 30;
  private static final Duration GONE = Duration.ofSeconds(30);

  private final Process process;
  private final Path pidFile;

  private ChildProcess(Process process, Path pidFile) {
    this.process = process;
    this.pidFile = pidFile;
  }

  /**
   * @param home where the files pid and log are written
   * @param environment variables added to a {@link CleanEnvironment}
   */
  static ChildProcess start(Path home, List<String> command, Map<String, String> environment) {
    Path pidFile = home.resolve("pid");
    List<String> group = new ArrayList<>(List.of("sh", "-c", LEAD_A_GROUP, pidFile.toString()));
    group.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(group)
            .directory(home.toFile())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(home.resolve("log").toFile()));
    CleanEnvironment.give(builder, environment);
    try {
      return new ChildProcess(builder.start(), pidFile);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot run " + command, e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void kill() {
    List<ProcessHandle> all = members();
    signal("KILL");
    awaitEndOf(all);
  }

  /** Sends TERM to the leader, which ends the others; after 30 s sends KILL to the whole group. */
  void stop() {
    List<ProcessHandle> all = members();
    signal("CONT");
    process.destroy();
    if (!endsWithin(STOP_SECONDS)) {
      signal("KILL");
    }
    awaitEndOf(all);
  }

  void freeze() {
    signal("STOP");
    long group = process.pid();
    Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .filter(member -> ProcessState.group(member.pid()) == group)
        .forEach(ProcessState::awaitStopped);
  }

  void thaw() {
    signal("CONT");
  }

  boolean isFrozen() {
    return ProcessState.isStopped(process.pid());
  }

  /** None of one that has ended: its number may already be that of another thread or process. */
  private List<ProcessHandle> members() {
    return process.isAlive()
        ? Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList()
        : List.of();
  }

  private void signal(String name) {
    if (process.isAlive()) {
      String pid = String.valueOf(process.pid());
      Commands.run(List.of("sh", "-c", "kill -s " + name + " -- -" + pid), Map.of());
    }
  }

  private boolean endsWithin(long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Ports and files are free only when the last process of the group has ended. */
  private void awaitEndOf(List<ProcessHandle> all) {
    for (ProcessHandle handle : all) {
      awaitEndOf(handle);
    }
    eventually("Java to see the end of " + process.pid()).atMost(GONE).until(() -> !isAlive());
    try {
      Files.deleteIfExists(pidFile);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot delete " + pidFile, e);
    }
  }

  /** onExit() would wait for another process that has got the number meanwhile. */
  private static void awaitEndOf(ProcessHandle handle) {
    eventually("the end of process " + handle.pid())
        .atMost(GONE)
        .until(() -> ProcessState.hasEnded(handle));
  }
}
