package io.seckill.consumer.sales;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.Shards;
import java.util.List;

/** Moves nothing, and lists what was to move: {@code take 1=25} are 25 units of shard 1. */
public class ListedMoves extends StockMoves {

  private final List<String> list;

  public ListedMoves(List<String> list) {
    super(null, null, null, null, null, null, new SimpleMeterRegistry());
    this.list = list;
  }

  @Override
  public void take(List<Units> from) {
    from.forEach(units -> list.add("take " + text(units)));
  }

  @Override
  public void give(List<Units> to) {
    to.forEach(units -> list.add("give " + text(units)));
  }

  private static String text(Units units) {
    return Shards.shard(units.shardId()) + "=" + units.units();
  }
}
