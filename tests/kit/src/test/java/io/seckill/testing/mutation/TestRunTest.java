package io.seckill.testing.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.SharedApplications;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TestRunTest {

  private static final AtomicInteger STOPPED = new AtomicInteger();

  @Test
  void stopsWhatTheTestHasLeftRunning() {
    int before = SharedApplications.count();

    TestRun run = TestRun.of(TestRunTest.class.getName() + "#leaves", List.of(), Map.of());

    assertThat(run.complaint()).isNull();
    assertThat(STOPPED).hasValueGreaterThan(0);
    assertThat(SharedApplications.count()).isEqualTo(before);
  }

  @Test
  void leaves() {
    SharedApplications.add(STOPPED::incrementAndGet);
  }
}
