package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

  private static boolean sleeps(String[] arguments) {
    return arguments[0].equals("300");
  }
}
