package io.seckill.system.faults;

import org.junit.jupiter.api.Tag;

/** The random schedule with gateways that answer "queued" after the broker's confirm. */
@OnChannel(durableIn = "broker")
@Tag("proof")
class DirectRandomScheduleIT extends RandomScheduleIT {

  DirectRandomScheduleIT(FaultLab lab) {
    super(lab);
  }
}
