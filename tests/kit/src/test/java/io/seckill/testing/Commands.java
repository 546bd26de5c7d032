package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs short commands and waits for their end. */
final class Commands {

  private static final long TIMEOUT_SECONDS = 60;

  private Commands() {}

  /**
   * @param environment variables added to a {@link CleanEnvironment}
   * @return the command's output, standard error included
   * @throws IllegalStateException with the output, when the exit code is not 0 or the command does
   *     not end within 60 s
   */
  static String run(List<String> command, Map<String, String> environment) {
    return run(command, environment, TIMEOUT_SECONDS);
  }

  /** As {@link #run(List, Map)}, with another time-out. */
  static String run(List<String> command, Map<String, String> environment, long timeoutSeconds) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      CleanEnvironment.give(builder, environment);
      return outputOf(builder.start(), command, timeoutSeconds);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while running " + command, e);
    }
  }

  private static String outputOf(Process process, List<String> command, long timeoutSeconds)
      throws IOException, InterruptedException {
    process.onExit().orTimeout(timeoutSeconds, TimeUnit.SECONDS).exceptionally(e -> kill(process));
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = Bounded.waitFor(process);
    if (code != 0) {
      throw new IllegalStateException(command + " ended with " + code + ": " + output);
    }
    return output;
  }

  private static Process kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly); // or they keep its output open
    return process.destroyForcibly();
  }
}
