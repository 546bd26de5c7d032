package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProcessStateTest {

  @Test
  void aProcessHasEndedWhoseParentDoesNotAsk() throws IOException {
    Process parent = new ProcessBuilder("sh", "-c", "sleep 600 & exec sleep 300").start();
    try {
      eventually()
          .until(() -> parent.info().arguments().filter(ProcessStateTest::sleeps).isPresent());
      ProcessHandle child =
          eventually()
              .until(() -> parent.children().findFirst(), Optional::isPresent)
              .orElseThrow();
      assertThat(ProcessState.hasEnded(child)).isFalse();

      assertThat(child.destroyForcibly()).isTrue();

      eventually().until(() -> ProcessState.hasEnded(child));
      assertThat(ProcessState.hasEnded(parent.toHandle())).isFalse();
    } finally {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  /** As a server after SIGKILL while one of its threads still writes to a disk. */
  @Test
  void aProcessHasNotEndedBeforeItsLastThread() throws IOException {
    String exit = System.getProperty("os.arch").equals("aarch64") ? "93" : "60"; // of one thread
    String script = "threads->create(sub { sleep 300 }); syscall(" + exit + ", 0)";
    Process process = new ProcessBuilder("perl", "-Mthreads", "-e", script).start();
    try {
      Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
      eventually().until(() -> Files.readString(stat).contains("(perl) Z "));

      assertThat(ProcessState.hasEnded(process.toHandle())).isFalse();

      process.destroyForcibly();

      eventually().until(() -> ProcessState.hasEnded(process.toHandle()));
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean sleeps(String[] arguments) {
    return arguments[0].equals("300");
  }
}
