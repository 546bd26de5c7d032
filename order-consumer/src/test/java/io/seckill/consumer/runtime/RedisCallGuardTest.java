package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.BreakerContract;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.LoggedLines;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class RedisCallGuardTest {

  private static final String FAIL = "calls to {} fail: {}";

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RedisCallGuard.config());
  }

  @Test
  void onAClusterOnlyThePartitionsThatFailAreNotCalled() {
    RedisCallGuard guard =
        new RedisCallGuard(CannedRedis.cluster(command -> 0L), new SimpleMeterRegistry());
    assertThat(guard.parts()).isGreaterThan(1);
    int failing = guard.partOf(1_001);
    eventually() // a second later it is called again
        .untilAsserted(
            () -> {
              for (int i = 0; i < 4; i++) {
                assertThat(guard.run(failing, RedisCallGuardTest::failOver)).isFalse();
              }

              assertThat(guard.run(failing, () -> {})).isFalse();
              for (int part = 0; part < guard.parts(); part++) {
                assertThat(guard.run(part, () -> {})).isEqualTo(part != failing);
              }
            });
  }

  /** As where only writes fail: between two failures are calls that succeed. */
  @Test
  void anOutageHasTwoLines() {
    AtomicLong nanos = new AtomicLong();
    RedisCallGuard guard = new RedisCallGuard(true, new SimpleMeterRegistry(), nanos::get);
    LoggedLines lines = LoggedLines.of(RedisCallGuard.class);
    try (lines) {
      for (int i = 0; i < 20; i++) {
        guard.run(3, () -> {});
        guard.run(3, () -> {});
        guard.run(3, () -> {});
        guard.run(3, RedisCallGuardTest::failOver);
        guard.run(4, () -> {});
        nanos.addAndGet(RedisCallGuard.CALM.toNanos());
      }
      assertThat(lines.events()).extracting(ILoggingEvent::getMessage).containsExactly(FAIL);
      nanos.addAndGet(1);
      guard.run(3, () -> {});
      guard.run(3, () -> {});
      guard.run(4, RedisCallGuardTest::failOver);
      guard.run(4, RedisCallGuardTest::failOver);
    }

    assertThat(lines.events())
        .extracting(ILoggingEvent::getMessage)
        .containsExactly(FAIL, "{} works again", FAIL);
  }

  @Test
  void anErrorEndsItsTrialCall() {
    RedisCallGuard guard = new RedisCallGuard(false, new SimpleMeterRegistry(), System::nanoTime);
    for (int i = 0; i < 4; i++) {
      guard.run(0, RedisCallGuardTest::failOver);
    }
    eventually()
        .untilAsserted(() -> assertThatThrownBy(() -> guard.run(0, RedisCallGuardTest::overflow)));

    assertThat(guard.run(0, () -> {})).isTrue();
  }

  private static void overflow() {
    throw new StackOverflowError();
  }

  private static void failOver() {
    throw new JedisConnectionException("failing over");
  }
}
