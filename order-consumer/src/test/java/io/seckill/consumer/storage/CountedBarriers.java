package io.seckill.consumer.storage;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** For tests that count the reads; no barrier passes, and it has no stores. For one thread. */
public final class CountedBarriers extends Barriers {

  private long sent;
  private int reads;

  public CountedBarriers() {
    super(null, null);
  }

  @Override
  public OptionalLong send(int partition) {
    return OptionalLong.of(++sent);
  }

  @Override
  public Map<Long, Boolean> havePassed(Collection<Long> barriers) {
    reads++;
    return barriers.stream().collect(Collectors.toMap(barrier -> barrier, barrier -> false));
  }

  public long sent() {
    return sent;
  }

  public int reads() {
    return reads;
  }
}
