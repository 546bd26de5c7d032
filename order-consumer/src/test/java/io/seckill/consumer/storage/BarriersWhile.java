package io.seckill.consumer.storage;

import java.time.Duration;

/** For tests in which something happens while a barrier is under way: it has no stores. */
public final class BarriersWhile extends Barriers {

  private final Runnable meanwhile;

  public BarriersWhile(Runnable meanwhile) {
    super(null, null);
    this.meanwhile = meanwhile;
  }

  @Override
  public boolean pass(int partition, Duration atMost) {
    meanwhile.run();
    return true;
  }
}
