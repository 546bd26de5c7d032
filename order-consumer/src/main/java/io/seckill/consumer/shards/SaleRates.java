package io.seckill.consumer.shards;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Units per second that each shard sells: an average, in which the latest time counts half. */
final class SaleRates {

  private final Map<Long, Rate> rates = new HashMap<>();

  private record Rate(double perSecond, long admitted, long nanos) {}

  /**
   * @param nanos when they were read, by System.nanoTime
   * @return units sold since the time before
   */
  long add(List<ShardState> shards, long nanos) {
    long sold = 0;
    for (ShardState shard : shards) {
      Rate last = rates.getOrDefault(shard.id(), new Rate(0, shard.admitted(), nanos));
      long units = Math.max(0, shard.admitted() - last.admitted()); // a rebuild counts anew
      double seconds = (double) (nanos - last.nanos()) / TimeUnit.SECONDS.toNanos(1);
      double now = seconds > 0 ? units / seconds : last.perSecond();
      rates.put(shard.id(), new Rate((last.perSecond() + now) / 2, shard.admitted(), nanos));
      sold += units;
    }
    return sold;
  }

  double of(ShardState shard) {
    Rate rate = rates.get(shard.id());
    return rate == null ? 0 : rate.perSecond();
  }
}
