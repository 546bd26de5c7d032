package io.seckill.system.faults;

import org.junit.jupiter.api.Tag;

/** What is answered "queued" after the broker's confirm survives every loss of Redis. */
@Tag("proof")
@OnChannel(durableIn = "broker")
class DirectDataLossIT extends DataLossIT {

  DirectDataLossIT(FaultLab lab) {
    super(lab);
  }
}
