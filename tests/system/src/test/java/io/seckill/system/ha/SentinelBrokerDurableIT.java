package io.seckill.system.ha;

import io.seckill.system.faults.OnChannel;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rows of {@link SentinelFaultsIT} with "queued" durable in the broker. */
@OnChannel(value = "direct", durableIn = "broker")
@EnabledIfSystemProperty(named = "seckill.proof", matches = "true")
class SentinelBrokerDurableIT extends SentinelFaultsIT {

  SentinelBrokerDurableIT(SentinelLab lab) {
    super(lab);
  }
}
