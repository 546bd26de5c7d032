package io.seckill.system.faults;

import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The random schedule with gateways that answer "queued" after the broker's confirm. */
@OnChannel(durableIn = "broker")
@Tag("proof")
class DirectRandomScheduleIT extends RandomScheduleIT {

  private static final Duration LONGEST = Duration.ofMinutes(10);

  DirectRandomScheduleIT(FaultLab lab) {
    super(lab);
  }

  @Override
  Duration length() {
    Duration chosen = super.length();
    return chosen.compareTo(LONGEST) < 0 ? chosen : LONGEST;
  }
}
