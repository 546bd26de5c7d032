package io.seckill.relay.lane;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class BrokerBreakerTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(RelayConfiguration.breakerConfig());
  }
}
