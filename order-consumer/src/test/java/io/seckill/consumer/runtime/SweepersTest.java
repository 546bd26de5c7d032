package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SweepersTest {

  private static final int SWEEPERS = 3;

  /** A round waits for this and an interrupt does not end the wait, as with a reply from MySQL. */
  private final CountDownLatch answer = new CountDownLatch(1);

  private final CountDownLatch begun = new CountDownLatch(SWEEPERS);
  private final CountDownLatch asked = new CountDownLatch(SWEEPERS);
  private final CountDownLatch ended = new CountDownLatch(SWEEPERS);

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void thoseThatHangAreAllAskedToStopBeforeAnyOfThemIsWaitedFor() throws Exception {
    List<Sweeper> all = new ArrayList<>();
    for (int i = 0; i < SWEEPERS; i++) {
      all.add(new Sweeper("sweep-" + i, Duration.ofMillis(1), this::hang));
    }
    Sweepers sweepers = new Sweepers(all);
    sweepers.start();
    Bounded.await(begun);

    Thread stopping = new Thread(sweepers::stop);
    stopping.start();

    Bounded.await(asked);
    assertThat(ended.getCount()).as("still in a round").isEqualTo(SWEEPERS);
    assertThat(sweepers.isRunning()).isFalse();
    answer.countDown();
    Bounded.await(ended);
    Bounded.join(stopping);
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void aStopWaitsForTheRoundAndEndsThePause() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Sweeper inPause = new Sweeper("pause", Duration.ofDays(1), () -> {});
    Sweeper inRound =
        new Sweeper(
            "round",
            Duration.ofMillis(1),
            () -> {
              inside.countDown();
              try {
                answer.await(2, TimeUnit.MINUTES);
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    Sweepers sweepers = new Sweepers(List.of(inPause, inRound));
    sweepers.start();
    Bounded.await(inside);

    long started = System.nanoTime();
    sweepers.stop();
    Duration took = Duration.ofNanos(System.nanoTime() - started);

    if (took.compareTo(Duration.ofSeconds(3)) < 0) { // else it has not waited for the end
      assertThat(interrupted.getCount()).as("rounds not interrupted").isZero();
    }
    Bounded.await(interrupted);
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void goesOnAfterAnError() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    Sweeper sweeper =
        new Sweeper(
            "sweep",
            Duration.ofMillis(1),
            () -> {
              rounds.countDown();
              throw new LinkageError("in every round");
            });
    Sweepers sweepers = new Sweepers(List.of(sweeper));
    sweepers.start();

    Bounded.await(rounds);

    sweepers.stop();
  }

  private void hang() {
    begun.countDown();
    while (answer.getCount() > 0) {
      try {
        answer.await(2, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        asked.countDown();
      }
    }
    ended.countDown();
  }
}
