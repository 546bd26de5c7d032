package io.seckill.system.ha;

import io.seckill.system.faults.OnChannel;
import org.junit.jupiter.api.Tag;

/** The rows of {@link SentinelLossIT} with "queued" durable in the broker. */
@OnChannel(durableIn = "broker")
@Tag("proof")
class SentinelLossWithBrokerIT extends SentinelLossIT {

  SentinelLossWithBrokerIT(SentinelLab lab) {
    super(lab);
  }
}
