package io.seckill.consumer.redis;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class RedisBreakerTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RedisBreaker.config());
  }
}
