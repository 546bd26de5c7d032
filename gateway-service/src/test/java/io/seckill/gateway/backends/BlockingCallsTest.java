package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

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

  private static int hold(CountDownLatch running, CountDownLatch end) {
    running.countDown();
    Bounded.await(end);
    return 1;
  }
}
