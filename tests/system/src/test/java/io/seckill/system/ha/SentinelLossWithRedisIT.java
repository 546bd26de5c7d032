package io.seckill.system.ha;

import io.seckill.system.faults.OnChannel;
import org.junit.jupiter.api.Tag;

/** The rows of {@link SentinelLossIT} with "queued" durable in the primary alone. */
@OnChannel
@Tag("proof")
class SentinelLossWithRedisIT extends SentinelLossIT {

  SentinelLossWithRedisIT(SentinelLab lab) {
    super(lab);
  }
}
