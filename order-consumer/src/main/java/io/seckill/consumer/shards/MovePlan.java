package io.seckill.consumer.shards;

import static java.util.stream.Collectors.toMap;

import io.seckill.consumer.sales.StockMoves;
import io.seckill.consumer.sales.StockMoves.Units;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Which units to move, from what the shards of a SKU have and sell. While there is plenty, each
 * shard should have as large a part of the units as it has of the demand, so that all run dry
 * together; of the last units each should have those for which its shoppers wait, the first of them
 * first. Pure: it reads no clock and no server.
 */
final class MovePlan {

  /** Of the largest orders, for each shard: with fewer units, only those asked for move. */
  private static final long PLENTY = 4;

  /** A shard that sells out later than this needs nothing yet. */
  private static final double SUPPLY_S = 0.5;

  /** A shard keeps what it sells in this time, while the units are under way. */
  private static final double KEPT_S = 0.1;

  /** Of its part. Units do not go to and fro while no purchase waits. */
  private static final double TOO_FEW = 0.75;

  private static final double TOO_MANY = 1.25;

  private final List<ShardState> shards;
  private final long pool;
  private final Map<Long, Long> targets;
  private final ToDoubleFunction<ShardState> rate;
  private final boolean plenty;
  private final boolean anyIsShort;

  /**
   * @param shards that can be reached
   * @param pool units of no shard that may be given
   * @param rate units per second that a shard sells
   * @param largestOrder units
   */
  MovePlan(
      List<ShardState> shards, long pool, ToDoubleFunction<ShardState> rate, long largestOrder) {
    this.shards = shards;
    this.pool = pool;
    this.rate = rate;
    this.anyIsShort = shards.stream().anyMatch(MovePlan::isShort);
    long free = pool + shards.stream().mapToLong(ShardState::stock).sum();
    this.plenty = free >= PLENTY * shards.size() * largestOrder;
    this.targets = plenty ? byDemand(free) : byAsking(free);
  }

  /** A purchase may wait here for units that its shard does not have. */
  private static boolean isShort(ShardState shard) {
    return shard.stock() < shard.asked();
  }

  /** A dry shard for which nobody waits has no demand: its shoppers would wait. */
  private Map<Long, Long> byDemand(long free) {
    double mean = shards.stream().mapToDouble(rate).average().orElse(0);
    Map<Long, Double> demand = new HashMap<>();
    for (ShardState shard : shards) {
      double sold = rate.applyAsDouble(shard);
      demand.put(
          shard.id(), isShort(shard) ? Math.max(sold, mean) + 1 : shard.stock() > 0 ? sold + 1 : 0);
    }
    double all = demand.values().stream().mapToDouble(Double::doubleValue).sum();
    Map<Long, Long> wanted = new HashMap<>();
    demand.forEach((id, part) -> wanted.put(id, all == 0 ? 0 : (long) (free * part / all)));
    return wanted;
  }

  private Map<Long, Long> byAsking(long free) {
    List<Units> asked =
        askingFirst().stream().map(shard -> new Units(shard.id(), shard.asked())).toList();
    return StockMoves.first(free, asked).stream().collect(toMap(Units::shardId, Units::units));
  }

  private List<ShardState> askingFirst() {
    return shards.stream()
        .filter(shard -> shard.asked() > 0)
        .sorted(Comparator.comparingLong(ShardState::askedForMs).reversed())
        .toList();
  }

  /** Units to take into the pool before the gifts. */
  List<Units> takes() {
    long missing = shards.stream().filter(this::isInNeed).mapToLong(this::missing).sum() - pool;
    return StockMoves.richest(
        shards.stream().map(shard -> new Units(shard.id(), surplus(shard))).toList(), missing);
  }

  private boolean isInNeed(ShardState shard) {
    return !plenty
        || isShort(shard)
        || (shard.stock() < rate.applyAsDouble(shard) * SUPPLY_S
            && shard.stock() < target(shard) * TOO_FEW);
  }

  private long target(ShardState shard) {
    return targets.getOrDefault(shard.id(), 0L);
  }

  private long missing(ShardState shard) {
    return Math.max(0, target(shard) - shard.stock());
  }

  private long surplus(ShardState shard) {
    if (!plenty) {
      return shard.stock() - target(shard);
    }
    long kept = Math.max(target(shard), (long) Math.ceil(rate.applyAsDouble(shard) * KEPT_S));
    double most = target(shard) * (anyIsShort ? 1 : TOO_MANY);
    return shard.stock() > most ? shard.stock() - kept : 0;
  }

  /**
   * Units to give from the pool: first where a purchase waits, then those who have least of their
   * part, and of the last units those who have waited longest.
   *
   * @param units in the pool after the takes; a shard may have refused one
   */
  List<Units> gives(long units) {
    List<ShardState> poorest =
        plenty
            ? shards.stream()
                .sorted(
                    Comparator.comparing((ShardState shard) -> !isShort(shard))
                        .thenComparingDouble(
                            shard -> (double) shard.stock() / Math.max(1, target(shard))))
                .toList()
            : askingFirst();
    return StockMoves.first(
        units, poorest.stream().map(shard -> new Units(shard.id(), missing(shard))).toList());
  }
}
