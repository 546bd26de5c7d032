package io.seckill.system.ha;

import io.seckill.system.faults.OnChannel;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rows of {@link SentinelFaultsIT} with "queued" durable in the primary alone. */
@OnChannel("relay")
@EnabledIfSystemProperty(named = "seckill.proof", matches = "true")
class SentinelRedisDurableIT extends SentinelFaultsIT {

  SentinelRedisDurableIT(SentinelLab lab) {
    super(lab);
  }
}
