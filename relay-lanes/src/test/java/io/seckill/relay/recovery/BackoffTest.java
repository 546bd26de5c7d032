package io.seckill.relay.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {

  private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofMillis(350));

  @Test
  void doublesItsPausesUpToTheLongestAndJittersThemByHalf() {
    List<Duration> pauses = Stream.generate(backoff::next).limit(4).toList();

    assertThat(pauses.get(0)).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
    assertThat(pauses.get(1)).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
    assertThat(pauses.get(2)).isBetween(Duration.ofMillis(175), Duration.ofMillis(350));
    assertThat(pauses.get(3)).isBetween(Duration.ofMillis(175), Duration.ofMillis(350));
  }

  @Test
  void startsAgainWithTheFirstPauseAfterASuccess() {
    Stream.generate(backoff::next).limit(4).forEach(pause -> {});
    backoff.reset();

    assertThat(backoff.next()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
  }

  @Test
  void aStopEndsThePausesOfItsThread() throws Exception {
    Backoff days = new Backoff(Duration.ofDays(2), Duration.ofDays(2));
    CompletableFuture<Boolean> ended =
        CompletableFuture.supplyAsync(() -> pausesTwice(days), task -> new Thread(task).start());
    assertThat(days.isStopped()).isFalse();

    days.stop();

    assertThat(ended.get(2, TimeUnit.MINUTES)).as("stopped").isTrue();
  }

  private static boolean pausesTwice(Backoff days) {
    try {
      days.pause();
      days.pause(Duration.ofDays(1));
      return days.isStopped();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
