package io.seckill.gateway.backends;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import io.seckill.testing.LoggedLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import redis.clients.jedis.exceptions.JedisConnectionException;

class BlockingCallsTest {

  private static final int THREADS = 4;
  private static final int WAITING = 3;

  @Test
  void refusesWhatIsMoreThanTheThreadsAndTheOneQueueTake() throws InterruptedException {
    BlockingCalls calls =
        new BlockingCalls("test", ProblemCode.UNAVAILABLE, THREADS, WAITING, Duration.ofMinutes(1));
    CountDownLatch running = new CountDownLatch(THREADS);
    CountDownLatch end = new CountDownLatch(1);
    List<CompletableFuture<Integer>> taken = new ArrayList<>();
    try {
      for (int i = 0; i < THREADS + WAITING; i++) {
        taken.add(calls.<Integer>call(() -> hold(running, end)).toFuture());
      }
      Bounded.await(running);

      Mono<Integer> oneTooMany = calls.call(() -> 1);

      assertThatThrownBy(oneTooMany::block)
          .isInstanceOfSatisfying(
              ProblemException.class,
              e -> assertThat(e.problem().code()).isEqualTo(ProblemCode.BUSY));
      end.countDown();
      assertThat(taken).allSatisfy(call -> assertThat(Bounded.get(call)).isEqualTo(1));
    } finally {
      end.countDown();
      calls.destroy();
    }
  }

  @Test
  void waitsNoLongerThanTheTimeOut() {
    BlockingCalls calls =
        new BlockingCalls("test", ProblemCode.UNAVAILABLE, 1, WAITING, Duration.ofMillis(50));
    CountDownLatch end = new CountDownLatch(1);
    try {
      Mono<Integer> held = calls.call(() -> hold(new CountDownLatch(1), end));

      assertThatThrownBy(() -> held.block(Eventually.SOON))
          .isInstanceOfSatisfying(
              ProblemException.class,
              e -> assertThat(e.problem().code()).isEqualTo(ProblemCode.UNAVAILABLE));
    } finally {
      end.countDown();
      calls.destroy();
    }
  }

  @Test
  void logsWhatAStoreFailsOnceAMinuteAndADefectEachTimeWithItsStack() {
    BlockingCalls calls =
        new BlockingCalls("test", ProblemCode.UNAVAILABLE, THREADS, WAITING, Duration.ofMinutes(1));
    LoggedLines lines = LoggedLines.of(BlockingCalls.class);
    try (lines) {
      for (int i = 0; i < 3; i++) {
        for (RuntimeException failure :
            List.of(
                new JedisConnectionException("refused"),
                new DataAccessResourceFailureException("reset"),
                new IllegalStateException("a defect"))) {
          Mono<Object> failed =
              calls.call(
                  () -> {
                    throw failure;
                  });
          assertThatThrownBy(failed::block).isInstanceOf(ProblemException.class);
        }
      }
    } finally {
      calls.destroy();
    }

    assertThat(lines.events())
        .extracting(line -> line.getLevel() + " " + (line.getThrowableProxy() != null))
        .containsExactly("WARN false", "WARN false", "ERROR true", "ERROR true", "ERROR true");
  }

  /** Their callers have been answered. */
  @Test
  void logsCallsThatFailAfterTheirTimeOutOnceAMinute() {
    BlockingCalls calls =
        new BlockingCalls("test", ProblemCode.UNAVAILABLE, THREADS, WAITING, Duration.ofMillis(50));
    DroppedFailures dropped = new DroppedFailures();
    AtomicInteger late = new AtomicInteger();
    Hooks.onErrorDropped(failure -> late.incrementAndGet()); // after the other hook
    LoggedLines ofReactor = LoggedLines.of("reactor.core.publisher.Operators");
    LoggedLines lines = LoggedLines.of(DroppedFailures.class);
    CountDownLatch end = new CountDownLatch(1);
    try (ofReactor;
        lines) {
      eventually()
          .until(
              () -> {
                Mono<Integer> held = calls.call(() -> hold(new CountDownLatch(1), end));
                assertThatThrownBy(held::block).isInstanceOf(ProblemException.class);
                return late.get() >= 3;
              });
    } finally {
      end.countDown();
      calls.destroy();
      dropped.destroy();
    }

    assertThat(lines.texts())
        .singleElement()
        .asString()
        .contains("no caller waits", "interrupted while waiting");
    assertThat(ofReactor.texts()).isEmpty();
  }

  private static int hold(CountDownLatch running, CountDownLatch end) {
    running.countDown();
    Bounded.await(end);
    return 1;
  }
}
