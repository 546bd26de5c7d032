package io.seckill.consumer.shards;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Leadership;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.consumer.sales.StockMoves;
import io.seckill.support.logging.ThrottledLog;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Looks at the SKUs with shards that are on sale, in one of several processes: that saves work, and
 * nothing else depends on it, because every move and every proof stands for itself. One thread
 * looks and moves, another renews proofs.
 */
@Component
class ShardMover {

  private static final Logger log = LoggerFactory.getLogger(ShardMover.class);

  /**
   * How soon a sale that was opened is looked at, and another process notices that this one ended.
   */
  private static final Duration REFRESH = Duration.ofMillis(500);

  private static final Duration LOCK_SILENCE = Duration.ofSeconds(2);

  private final ThrottledLog failures = new ThrottledLog(log);
  private final Leadership leadership;
  private final ShardTable table;
  private final ShardReader reader;
  private final StockMoves moves;
  private final ShardProofs proofs;
  private final Map<Long, SkuMover> movers = new ConcurrentHashMap<>();
  private final Map<Long, Long> due = new HashMap<>();

  /** When a SKU was looked at, or was found on sale. */
  private final Map<Long, Long> looked = new ConcurrentHashMap<>();

  private List<ProductSnapshot> sales = List.of();

  ShardMover(
      ConnectionPools pools,
      ShardTable table,
      ShardReader reader,
      StockMoves moves,
      ShardProofs proofs,
      MeterRegistry meters) {
    this.leadership = new Leadership(pools.reconciliation(), "move-shards", LOCK_SILENCE);
    this.table = table;
    this.reader = reader;
    this.moves = moves;
    this.proofs = proofs;
    Gauge.builder("seckill.consumer.shard.looks.age", this, ShardMover::longestAgo)
        .description("Time since the look longest ago at a SKU with shards")
        .baseUnit("seconds")
        .register(meters);
  }

  private double longestAgo() {
    long now = System.nanoTime();
    return looked.values().stream().mapToLong(time -> now - time).max().orElse(0) / 1e9;
  }

  @Bean
  Sweeper shardSweeper() {
    return new Sweeper("shards", REFRESH, this::round);
  }

  @Bean
  Sweeper proofSweeper() {
    return new Sweeper("shard-proofs", SkuMover.SOLD_OUT, this::renewProofs);
  }

  /** A look may wait for MySQL for seconds. */
  void renewProofs() {
    movers.values().forEach(SkuMover::renew);
  }

  /** Looks at the SKUs on sale until there is none, or this process does not lead. */
  void round() {
    refresh();
    while (!sales.isEmpty() && !Thread.currentThread().isInterrupted()) {
      lookUntil(System.nanoTime() + REFRESH.toNanos());
      refresh();
    }
  }

  /** Looks at each SKU when its time has come. */
  private void lookUntil(long end) {
    while (System.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
      long next = end;
      for (ProductSnapshot sku : sales) {
        long time = due.getOrDefault(sku.skuId(), System.nanoTime());
        if (System.nanoTime() - time >= 0) {
          time = System.nanoTime() + look(sku).toNanos();
        }
        due.put(sku.skuId(), time);
        next = time - next < 0 ? time : next;
      }
      Sleeps.nanos(next - System.nanoTime());
    }
  }

  private Duration look(ProductSnapshot sku) {
    SkuMover mover =
        movers.computeIfAbsent(
            sku.skuId(), id -> new SkuMover(table, reader, moves, proofs, System::nanoTime));
    try {
      Duration rest = mover.look(sku);
      looked.put(sku.skuId(), System.nanoTime());
      return rest;
    } catch (RuntimeException e) { // the other SKUs go on
      SqlFailure.throwIfAway(e);
      failures.warn("sku " + sku.skuId() + ": no unit moves between shards now", e);
      return REFRESH;
    }
  }

  /** While MySQL is away the sales stay as they are, and what is proven stays. */
  private void refresh() {
    try {
      List<ProductSnapshot> found = table.onSale();
      sales = !found.isEmpty() && leads() ? found : List.of();
    } catch (DataAccessException e) {
      log.debug("MySQL does not answer", e);
      return;
    }
    if (sales.isEmpty()) {
      stop();
    }
    var skus = sales.stream().map(ProductSnapshot::skuId).collect(Collectors.toSet());
    movers.keySet().retainAll(skus);
    due.keySet().retainAll(skus);
    looked.keySet().retainAll(skus);
    skus.forEach(sku -> looked.putIfAbsent(sku, System.nanoTime()));
  }

  private boolean leads() {
    if (leadership.isHeld()) {
      return true;
    }
    movers.clear(); // another process may have led
    return leadership.take();
  }

  /** Releases the lock, so that another process goes on. */
  @PreDestroy
  void stop() {
    leadership.close();
  }
}
