package io.seckill.bench.baseline;

import io.seckill.testing.Bounded;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs a program to its end. */
final class ProgramRunner {

  private ProgramRunner() {}

  /**
   * @return its output, including standard error
   * @throws IllegalStateException with the output, when the exit code is not 0
   */
  static String output(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (Bounded.waitFor(process) != 0) {
        throw new IllegalStateException(command.get(0) + " failed: " + said);
      }
      return said;
    } finally {
      process.destroyForcibly();
    }
  }
}
