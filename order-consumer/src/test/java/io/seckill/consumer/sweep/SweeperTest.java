package io.seckill.consumer.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SweeperTest {

  private static final int SWEEPERS = 3;

  /** A round waits for this and an interrupt does not end the wait, as with a reply from MySQL. */
  private final CountDownLatch answer = new CountDownLatch(1);

  private final CountDownLatch begun = new CountDownLatch(SWEEPERS);
  private final CountDownLatch asked = new CountDownLatch(SWEEPERS);
  private final CountDownLatch ended = new CountDownLatch(SWEEPERS);

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void thoseThatHangAreAllAskedToStopBeforeAnyOfThemIsWaitedFor() throws Exception {
    List<Sweeper> sweepers = new ArrayList<>();
    for (int i = 0; i < SWEEPERS; i++) {
      sweepers.add(new Sweeper("sweep-" + i, Duration.ofMillis(1), this::hang));
    }
    sweepers.forEach(Sweeper::start);
    begun.await();

    sweepers.forEach(sweeper -> sweeper.stop(ended::countDown));

    asked.await();
    assertThat(ended.getCount()).as("still in a round").isEqualTo(SWEEPERS);
    assertThat(sweepers).noneMatch(Sweeper::isRunning);
    answer.countDown();
    ended.await();
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
    sweeper.start();

    rounds.await();

    sweeper.stop();
  }

  private void hang() {
    begun.countDown();
    while (answer.getCount() > 0) {
      try {
        answer.await();
      } catch (InterruptedException e) {
        asked.countDown();
      }
    }
  }
}
