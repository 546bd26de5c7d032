package io.seckill.consumer.intake;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class LedgerGateTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(LedgerGate.config());
  }
}
