package io.seckill.relay.publish;

import io.seckill.testing.BreakerContract;
import org.junit.jupiter.api.Test;

class BrokerBreakerTest {

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(BrokerConnector.breakerConfig());
  }
}
