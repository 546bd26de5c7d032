package io.seckill.consumer.storage;

import java.time.Duration;

/** For tests in which no barrier passes: it has no stores. */
public final class StuckBarriers extends Barriers {

  public StuckBarriers() {
    super(null, null);
  }

  @Override
  public boolean pass(int partition, Duration atMost) {
    return false;
  }
}
