package io.seckill.consumer.runtime;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class RedisCallGuardTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RedisCallGuard.config());
  }
}
