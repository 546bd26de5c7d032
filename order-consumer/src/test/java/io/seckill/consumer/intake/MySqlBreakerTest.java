package io.seckill.consumer.intake;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class MySqlBreakerTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(DatabaseGate.config());
  }
}
