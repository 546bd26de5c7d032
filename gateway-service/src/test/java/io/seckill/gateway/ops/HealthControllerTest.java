package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.ops.HealthReport.Component;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthControllerTest {

  @AutoClose("destroy")
  private final BlockingCalls calls = TestCalls.oneThread();

  @ParameterizedTest
  @CsvSource({
    "0, 0, false, UP,",
    "0, 2, false, UP,",
    "2, 0, false, DEGRADED, 'Redis takes no writes for partitions [0, 1].'",
    "2, 0, true, DEGRADED, 'Redis takes no writes for partitions [0, 1].'",
    "2, 13, false, DEGRADED, 'Redis takes no writes for partitions [0, 1].'",
    "2, 14, false, DOWN, 'Redis takes no writes for partitions [0, 1].'",
    "16, 0, false, DOWN, Redis takes no writes.",
    "16, 0, true, DEGRADED, Redis takes no writes; MySQL decides its sales.",
  })
  void aRedisThatAnswersIsNotUpWhileItRefusesWrites(
      int refusing, int unavailable, boolean inFallback, String status, String reason) {
    Component redis =
        HealthController.redis(Component.UP, first(refusing), last(unavailable), inFallback);

    assertThat(redis.status()).hasToString(status);
    assertThat(redis.reason()).isEqualTo(reason);
  }

  @Test
  void whatElseIsWrongWithRedisIsNamedToo() {
    Component probed = Component.degraded("Redis may forget orders: a.");

    assertThat(HealthController.redis(probed, first(16), List.of(), false).reason())
        .isEqualTo("Redis takes no writes. Redis may forget orders: a.");
  }

  /** As {@link BackendHealthTest} has it of the other checks. */
  @Test
  void callersAtTheSameTimeShareOneReadOfTheLanes() {
    CountDownLatch asked = new CountDownLatch(1);
    AtomicInteger scripts = new AtomicInteger();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              Bounded.await(asked);
              scripts.incrementAndGet();
              return List.of("1000", 0L, "", 0L);
            });

    assertThat(
            BackendHealthTest.askTogether(
                HealthController.lanes(new LaneRegistry(redis), calls), asked))
        .hasSizeGreaterThan(1)
        .allMatch(Optional::isPresent);
    assertThat(scripts).hasValue(Partition.COUNT);
  }

  private static List<Integer> first(int partitions) {
    return IntStream.range(0, partitions).boxed().toList();
  }

  private static List<Integer> last(int partitions) {
    return IntStream.range(16 - partitions, 16).boxed().toList();
  }
}
