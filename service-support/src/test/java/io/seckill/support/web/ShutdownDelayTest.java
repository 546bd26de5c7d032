package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ShutdownDelayTest {

  @Test
  void passesBeforeAnythingStops() throws InterruptedException {
    Duration delay = Duration.ofMillis(200);
    long begun = System.nanoTime();

    new ShutdownDelay(delay).pass();

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(delay);
  }
}
