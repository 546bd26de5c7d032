package io.seckill.consumer.shards;

import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.consumer.sales.StockMoves;
import io.seckill.consumer.sales.StockMoves.Units;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Looks at the shards of one SKU, moves units, and proves how many are left. For one thread, but
 * for {@link #renew}.
 */
final class SkuMover {

  private static final Duration SELLING = Duration.ofMillis(50);

  /** Shorter than a purchase waits at a gateway, with the moves. */
  private static final Duration QUIET = Duration.ofMillis(100);

  /** A proof counts for a second. */
  static final Duration SOLD_OUT = Duration.ofMillis(250);

  /** Looks at MySQL do not come in time. */
  private static final Duration LATE = Duration.ofMillis(300);

  private static final Duration RESTING = Duration.ofSeconds(1);

  /** More than one Redis primary admits. */
  private static final long ORDERS_PER_S = 20_000;

  private final ShardTable table;
  private final ShardReader reader;
  private final StockMoves moves;
  private final ShardProofs proofs;
  private final LongSupplier nanoTime;
  private final SaleRates rates = new SaleRates();

  /** As of the last look at MySQL. */
  private volatile List<ExpectedSale> expected = List.of();

  private long expectedNanos;

  /** All shards as of that look, if nothing was sold, asked for or proven; else empty. */
  private List<ShardState> quiet = List.of();

  /** The pass that the shards show, in which no unit was left; empty when one may be. */
  private volatile List<ShardState> soldOut = List.of();

  private long soldOutNanos;

  /** Whether the shards may have a proof: also of the process that led before. */
  private volatile boolean shown = true;

  SkuMover(
      ShardTable table,
      ShardReader reader,
      StockMoves moves,
      ShardProofs proofs,
      LongSupplier nanoTime) {
    this.table = table;
    this.reader = reader;
    this.moves = moves;
    this.proofs = proofs;
    this.nanoTime = nanoTime;
  }

  /**
   * Looks once. A shard in a fallback gives no units: MySQL sells what it has.
   *
   * @return time until the next look
   * @throws org.springframework.dao.DataAccessException when MySQL does not answer
   */
  Duration look(ProductSnapshot sku) {
    if (isQuietStill()) {
      return untilDry(sku, quiet);
    }
    quiet = List.of();
    Pool pool = table.pool(sku);
    if (pool.inRedis() < sku.shards() && pool.free() > 0) {
      giveInMySql(sku, pool);
      pool = table.pool(sku);
    }
    if (pool.inRedis() == 0) {
      return RESTING;
    }
    expected = table.expected(sku);
    expectedNanos = nanoTime.getAsLong();
    List<ShardState> shards = reader.read(expected);
    long sold = rates.add(shards, expectedNanos);
    if (moved(sku, pool, shards)) {
      return SELLING;
    }
    prove(sku, pool, shards);
    if (!soldOut.isEmpty()) {
      return SOLD_OUT;
    }
    if (sold > 0 || isAsked(shards)) {
      return SELLING;
    }
    quiet = shown || shards.size() < sku.shards() ? List.of() : shards;
    return quiet.isEmpty() ? QUIET : untilDry(sku, quiet);
  }

  /** While Redis sells other shards, those of MySQL get units only when they are dry. */
  private void giveInMySql(ProductSnapshot sku, Pool pool) {
    long below = pool.inRedis() == 0 ? Long.MAX_VALUE : largestOrder(sku);
    Set<Long> inMySql = table.inMySql(sku, below);
    List<Long> takers = sku.shardIds().stream().filter(inMySql::contains).toList();
    if (!takers.isEmpty()) {
      moves.give(partsOf(takers, sku.shards(), pool.free()));
    }
  }

  /** As many of the units as these are of all shards, and at least one. */
  static List<Units> partsOf(List<Long> takers, int shards, long free) {
    long units = Math.max(1, free * takers.size() / shards);
    long part = units / takers.size();
    long rest = units % takers.size();
    return IntStream.range(0, takers.size())
        .mapToObj(n -> new Units(takers.get(n), n < rest ? part + 1 : part))
        .filter(given -> given.units() > 0)
        .toList();
  }

  /** While nothing sells, nothing needs to move: MySQL is looked at once a second. */
  private boolean isQuietStill() {
    if (quiet.isEmpty() || nanoTime.getAsLong() - expectedNanos >= RESTING.toNanos()) {
      return false;
    }
    List<ShardState> now = reader.read(expected);
    boolean isQuiet = units(now).equals(units(quiet)) && !isAsked(now);
    if (isQuiet) {
      rates.add(now, nanoTime.getAsLong());
    }
    return isQuiet;
  }

  private static boolean isAsked(List<ShardState> shards) {
    return shards.stream().anyMatch(shard -> shard.asked() > 0);
  }

  /** The time in which no shard can sell all that it has, or 100 ms; at most a second. */
  private static Duration untilDry(ProductSnapshot sku, List<ShardState> shards) {
    long soon = sku.opensAt().toEpochMilli() - RESTING.toMillis();
    if (shards.stream().allMatch(shard -> shard.nowMs() < soon)) {
      return RESTING;
    }
    long least = shards.stream().mapToLong(ShardState::stock).min().orElse(0);
    long ms = least * 1_000 / (ORDERS_PER_S * largestOrder(sku));
    return Duration.ofMillis(Math.max(QUIET.toMillis(), Math.min(RESTING.toMillis(), ms)));
  }

  /** A withdrawal that waits for shards that give no units now does not stop the others. */
  private boolean moved(ProductSnapshot sku, Pool pool, List<ShardState> shards) {
    List<ShardState> able = able(pool, shards);
    if (pool.isOwed() && able.size() == sku.shards()) {
      return false;
    }
    MovePlan plan = new MovePlan(able, pool.toGive(), rates::of, largestOrder(sku));
    List<Units> takes = plan.takes();
    if (!takes.isEmpty()) {
      retract(shards);
      moves.take(takes);
    }
    List<Units> gives = plan.gives(takes.isEmpty() ? pool.toGive() : table.pool(sku).toGive());
    if (!gives.isEmpty()) {
      retract(shards);
      moves.give(gives);
    }
    return !takes.isEmpty() || !gives.isEmpty();
  }

  /** Those whose moves end; the few that are unfinished at most moments need no closer look. */
  private List<ShardState> able(Pool pool, List<ShardState> shards) {
    if (pool.moves() < StockMoves.MOST_BEGUN) {
      return shards;
    }
    Set<Long> stuck = moves.stuck(shards.stream().map(ShardState::id).toList());
    return shards.stream().filter(shard -> !stuck.contains(shard.id())).toList();
  }

  private static int largestOrder(ProductSnapshot sku) {
    return sku.policy().largestOrder(sku.limitPerUser(), sku.maxPerOrder());
  }

  /** With fewer units left than the largest order has, a shard alone cannot refuse a purchase. */
  private void prove(ProductSnapshot sku, Pool before, List<ShardState> first) {
    long all = before.outside() + first.stream().mapToLong(ShardState::stock).sum();
    OptionalLong proven =
        all >= largestOrder(sku)
            ? OptionalLong.empty()
            : Elsewhere.proven(sku.shards(), before, first, reader.read(expected), table.pool(sku));
    if (proven.isEmpty()) {
      retract(first);
    } else {
      show(first, proven.getAsLong());
    }
  }

  private synchronized void show(List<ShardState> first, long all) {
    first.forEach(
        shard -> proofs.write(shard.id(), shard.epoch(), all - shard.stock(), shard.nowMs()));
    shown = true;
    soldOut = all == 0 ? first : List.of();
    soldOutNanos = nanoTime.getAsLong();
  }

  /** What was proven counts no more; a shard that cannot be reached drops it within a second. */
  private synchronized void retract(List<ShardState> shards) {
    if (shown) {
      proofs.takeBack(shards.stream().map(ShardState::id).toList());
    }
    shown = false;
    soldOut = List.of();
  }

  /**
   * While MySQL is away nothing comes to a shard but what MySQL has stored before, and that shows;
   * and what comes to the pool takes the proof back. So a proof that no unit is left stays true for
   * as long as the shards show it.
   */
  synchronized void renew() {
    if (soldOut.isEmpty() || nanoTime.getAsLong() - soldOutNanos < LATE.toNanos()) {
      return;
    }
    List<ShardState> now = reader.read(expected);
    if (!units(now).equals(units(soldOut)) || !isRenewed(now)) {
      retract(now);
    }
  }

  private boolean isRenewed(List<ShardState> now) {
    boolean all = true;
    for (int n = 0; n < now.size(); n++) {
      ShardState shard = now.get(n);
      all &= proofs.renew(shard.id(), shard.epoch(), soldOut.get(n).nowMs(), shard.nowMs());
    }
    soldOut = now;
    return all;
  }

  private static List<List<Long>> units(List<ShardState> shards) {
    return shards.stream()
        .map(shard -> List.of(shard.id(), shard.epoch(), shard.stock(), shard.admitted()))
        .toList();
  }
}
