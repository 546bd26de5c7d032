package io.seckill.consumer.storage;

import java.time.Duration;
import java.util.List;

/** For tests in which every barrier passes: it has no stores, and lists the partitions. */
public final class ListedBarriers extends Barriers {

  private final List<Integer> list;

  public ListedBarriers(List<Integer> list) {
    super(null, null);
    this.list = list;
  }

  @Override
  public boolean pass(int partition, Duration atMost) {
    return list.add(partition);
  }
}
