package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Sends purchases at a rate for some time. The pipeline keeps up when all are accepted in time and
 * the number of orders in transit does not grow: {@link BacklogTrend}, from the second quarter of
 * the trial, when the queues have reached the level of this rate, to its end.
 */
final class RateTrial implements SustainedRate.Trial {

  private static final double PUNCTUAL = 1.05;
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final int FILLING = 4;

  private final Lab lab;
  private final Figures figures;
  private final Duration length;
  private CpuTimes.PerOrder cpu = new CpuTimes.PerOrder(Map.of());

  RateTrial(Lab lab, Figures figures, Duration length) {
    this.lab = lab;
    this.figures = figures;
    this.length = length;
  }

  /** Also waits until the accepted orders are stored, and counts the others as lost. */
  @Override
  public boolean keepsUp(double perSecond) throws SQLException {
    lab.progress().now("end to end: trying %.0f orders/s".formatted(perSecond));
    int count = (int) (perSecond * length.toSeconds());
    BenchSale sale = lab.newSale(count);
    LoadPlan plan = new ReadyPurchases(lab, sale, count).at(perSecond);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      CpuTimes before = CpuTimes.now();
      CompletableFuture<LoadResult> load = CompletableFuture.supplyAsync(() -> run(plan));
      BacklogTrend backlog = watch(sale, database);
      LoadResult result = load.orTimeout(2 * length.toSeconds() + 120, TimeUnit.SECONDS).join();
      long accepted = result.answers(202);
      figures.count(EndToEnd.LOST, database.missing(sale, accepted));
      cpu = before.perOrder(accepted);
      return accepted == count
          && result.seconds() <= length.toSeconds() * PUNCTUAL
          && !backlog.grows();
    }
  }

  /**
   * Returns the CPU time per order of the latest trial, from its first purchase to its last row.
   */
  CpuTimes.PerOrder cpu() {
    return cpu;
  }

  private BacklogTrend watch(BenchSale sale, StoredRows database) throws SQLException {
    BacklogTrend trend = new BacklogTrend();
    long start = System.nanoTime();
    Waiting.pass(length.dividedBy(FILLING));
    while (System.nanoTime() - start < length.toNanos()) {
      trend.add((System.nanoTime() - start) / 1e9, (double) onTheWay(sale, database));
      Waiting.pass(LOOK);
    }
    return trend;
  }

  private long onTheWay(BenchSale sale, StoredRows database) throws SQLException {
    long admitted = sale.stock() - Long.parseLong(lab.redis().get(RedisKeys.stock(sale.skuId())));
    return admitted - database.stored(sale);
  }

  private static LoadResult run(LoadPlan plan) {
    try {
      return Loader.run(plan, answer -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
