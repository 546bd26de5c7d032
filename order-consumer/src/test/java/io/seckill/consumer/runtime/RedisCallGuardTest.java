package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class RedisCallGuardTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RedisCallGuard.config());
  }

  @Test
  void onAClusterOnlyThePartitionsThatFailAreNotCalled() {
    RedisCallGuard guard = new RedisCallGuard(true, new SimpleMeterRegistry());
    int failing = guard.partOf(1_001);
    for (int i = 0; i < 4; i++) {
      assertThat(guard.run(failing, RedisCallGuardTest::failOver)).isFalse();
    }

    assertThat(guard.run(failing, () -> {})).isFalse();
    for (int part = 0; part < guard.parts(); part++) {
      assertThat(guard.run(part, () -> {})).isEqualTo(part != failing);
    }
  }

  private static void failOver() {
    throw new JedisConnectionException("failing over");
  }
}
