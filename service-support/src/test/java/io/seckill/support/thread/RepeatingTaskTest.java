package io.seckill.support.thread;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class RepeatingTaskTest {

  private static final int BUSY_ROUNDS = 3;
  private static final Duration FOREVER = Duration.ofDays(1);

  private final AtomicInteger rounds = new AtomicInteger();
  private final AtomicInteger pauses = new AtomicInteger();
  private final CountDownLatch rests = new CountDownLatch(1);

  @Test
  void asksForThePauseAfterEachRound() {
    RepeatingTask task = new RepeatingTask("busy", this::pause, rounds::incrementAndGet);
    Bounded.await(rests);
    task.close();

    assertThat(rounds).hasValue(BUSY_ROUNDS);
    assertThat(pauses).hasValue(BUSY_ROUNDS);
  }

  private Duration pause() {
    if (pauses.incrementAndGet() < BUSY_ROUNDS) {
      return Duration.ZERO;
    }
    rests.countDown();
    return FOREVER;
  }

  @Test
  void runsOneRoundForAllWakeUpsDuringOne() {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    CountDownLatch again = new CountDownLatch(2);
    CountDownLatch restsAgain = new CountDownLatch(2);
    Runnable work =
        () -> {
          rounds.incrementAndGet();
          inside.countDown();
          again.countDown();
          Bounded.await(woken);
        };
    try (RepeatingTask task =
        new RepeatingTask(
            "woken",
            () -> {
              restsAgain.countDown();
              return FOREVER;
            },
            work)) {
      Bounded.await(inside);
      for (int i = 0; i < 5; i++) {
        task.runSoon();
      }
      woken.countDown();

      Bounded.await(again);
      Bounded.await(restsAgain);
    }
    assertThat(rounds).hasValue(2);
  }

  @Test
  void endsAlsoWhenARoundSwallowsTheInterrupt() {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    RepeatingTask task =
        new RepeatingTask(
            "deaf",
            FOREVER,
            () -> {
              inside.countDown();
              try {
                TimeUnit.DAYS.sleep(1);
              } catch (InterruptedException e) {
                ended.countDown();
              }
            });
    Bounded.await(inside);

    long started = System.nanoTime();
    task.close();
    Duration took = Duration.ofNanos(System.nanoTime() - started);

    if (took.compareTo(Duration.ofSeconds(2)) < 0) { // else it has not waited for the end
      assertThat(ended.getCount()).isZero();
    }
    Bounded.await(ended);
  }
}
